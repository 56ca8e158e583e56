// unit: the commands compare, ab and validate from outside, with a fake train_slice.
#include <algorithm>
#include <set>

#include "tests/support/program.h"

namespace harness::compare_command_test {

class CompareCommand : public Program {
 protected:
  // Nine runs of a row whose times are `times` what they usually are.
  void measure(const std::string& folder, const char* times = "1", const std::string& only = "0") {
    ASSERT_EQ(run({"--scale", "smoke", "--only", only, "--repeat", "9", "--set", "storage=synthetic", "--out",
                   directory / folder},
                  {{"FAKE_TIMES", times}}),
              0)
        << errors();
  }
  int compare(const std::string& a, const std::string& b, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"compare", directory / a, directory / b});
    return run(more);
  }
};

TEST_F(CompareCommand, SlowerIsExitFourAndFasterIsGood) {
  measure("a");
  measure("b", "1.5");
  EXPECT_EQ(compare("a", "b", {"--write", directory / "a"}), 4);
  EXPECT_TRUE(says("SLOWER")) << output();
  EXPECT_EQ(json::parse(content_of(directory / "a" / "comparison.json"))["rows"][0]["verdict"], "SLOWER");
  for (const char* file : {"comparison.txt", "comparison.md"})
    EXPECT_NE(content_of(directory / "a" / file), "") << file;
  EXPECT_EQ(compare("b", "a"), 0);
  EXPECT_TRUE(says("FASTER")) << output();
  EXPECT_EQ(compare("a", "a"), 0);
  EXPECT_TRUE(says("SAME")) << output();
}

TEST_F(CompareCommand, JsonIsNothingButJson) {
  measure("a");
  ASSERT_EQ(compare("a", "a", {"--json"}), 0);
  const json comparison = json::parse(output());
  EXPECT_EQ(comparison["rows"][0]["verdict"], "SAME") << comparison;
}

TEST_F(CompareCommand, RunsWithoutACommonRowAreExitThree) {
  ASSERT_EQ(smoke_in("a", "0"), 0);
  ASSERT_EQ(smoke_in("b", "1,7"), 0);
  EXPECT_EQ(compare("a", "b"), 3);
  EXPECT_TRUE(says("no row is in both: A has 0; B has 1, 7")) << errors();
}

TEST_F(CompareCommand, DamagedLinesAreNamedAndCostOnlyThemselves) {
  measure("a");
  measure("b");
  std::ofstream(directory / "b" / "records.jsonl", std::ios::app) << "rubbish\n{\"schema\": 1}\n{\"schema\"";
  EXPECT_EQ(compare("a", "b"), 0);
  for (const char* line : {"records.jsonl:10: not JSON", "records.jsonl:11: `row` is missing",
                           "records.jsonl:12: the line is cut off"})
    EXPECT_TRUE(says(line)) << errors();
  std::ofstream(directory / "b" / "records.jsonl") << "rubbish\n";
  EXPECT_EQ(compare("a", "b"), 3);
  EXPECT_TRUE(says("no usable record")) << errors();
  EXPECT_EQ(compare("a", "missing"), 2);
  EXPECT_TRUE(says("missing/records.jsonl")) << errors();
}

class Ab : public Program {
 protected:
  int ab(std::vector<std::string> more, const std::string& behaviour = "") {
    more.insert(more.begin(),
                {"ab", "--scale", "smoke", "--set", "storage=synthetic", "--out", directory / "ab"});
    return run(more, {{"FAKE_SLICE", behaviour}});
  }
  // Experiments that this machine's noise has been learned from.
  size_t noise_lines() {
    size_t lines = 0;
    if (!fs::exists(directory / "results" / "noise")) return 0;
    for (const auto& file : fs::directory_iterator(directory / "results" / "noise")) {
      const std::string all = content_of(file.path());
      lines += size_t(std::count(all.begin(), all.end(), '\n'));
    }
    return lines;
  }
};

TEST_F(Ab, BothSidesRunInPairsAndWithoutADifferenceTheNoiseIsLearned) {
  ASSERT_EQ(ab({"--only", "0,7", "--repeat", "3"}), 0) << errors();
  const std::vector<json> a = records_in("ab/A"), b = records_in("ab/B");
  ASSERT_EQ(a.size(), 6u);
  ASSERT_EQ(b.size(), 6u);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i]["row"], b[i]["row"]);
    EXPECT_EQ(a[i]["pair"]["block"], a[i]["repeat"]);
    EXPECT_EQ(a[i]["pair"]["block"], b[i]["pair"]["block"]);
    EXPECT_EQ(a[i]["pair"]["experiment"], b[i]["pair"]["experiment"]);
    EXPECT_EQ(a[i]["pair"]["side"], "A");
    EXPECT_EQ(b[i]["pair"]["side"], "B");
    EXPECT_NE(a[i]["pair"]["first"], b[i]["pair"]["first"]) << "chance chose one of the two";
  }
  EXPECT_EQ(noise_lines(), 1u);
  fs::remove_all(directory / "ab");
  ASSERT_EQ(ab({"--only", "0", "--repeat", "2"}), 0);
  EXPECT_EQ(noise_lines(), 2u);
}

TEST_F(Ab, ADifferenceIsAppliedToItsSideAndTeachesNoNoise) {
  ASSERT_EQ(ab({"--only", "0", "--repeat", "2", "--set-a", "ring_depth=3", "--set-b", "precision=o1",
                "--set-b", "ring_depth=5"}),
            0)
      << errors();
  EXPECT_EQ(records_in("ab/A").at(0)["config"]["precision"], "o0");
  EXPECT_EQ(records_in("ab/A").at(0)["config"]["ring_depth"], 3);
  EXPECT_EQ(records_in("ab/B").at(0)["config"]["precision"], "o1");
  EXPECT_EQ(records_in("ab/B").at(0)["config"]["ring_depth"], 5);
  EXPECT_EQ(noise_lines(), 0u);
  EXPECT_TRUE(fs::exists(directory / "ab" / "comparison.json"));
  EXPECT_EQ(run({"--resume", directory / "ab" / "A"}), 0) << "nothing is left there";
  EXPECT_EQ(run({"--resume", directory / "ab" / "A", "--repeat", "3"}), 2);
  EXPECT_TRUE(says("run ab again")) << errors();
}

TEST_F(Ab, WithUntilPairsEndAtTheLookThatDecides) {
  const auto until = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"ab", "--scale", "smoke", "--set", "storage=synthetic", "--only", "0,7",
                               "--until", "2m", "--out", directory / "ab"});
    fs::remove_all(directory / "ab");
    return run(more, {{"FAKE_STEP", "compute=10"}});
  };
  EXPECT_EQ(until({"--set-b", "host_work_ms=1"}), 4) << errors();
  EXPECT_EQ(records_in("ab/A").size(), 14u) << "seven pairs of two rows";
  for (const json& record : records_in("ab/B")) EXPECT_EQ(record["pair"]["until_verdict"], true);
  EXPECT_TRUE(says("SLOWER")) << output();
  EXPECT_EQ(until({}), 0) << errors();
  EXPECT_EQ(records_in("ab/B").size(), 14u);
  EXPECT_TRUE(says("SAME")) << output();
  EXPECT_EQ(noise_lines(), 0u) << "a number of pairs that results decide would be biased";
  EXPECT_EQ(until({"--repeat", "3"}), 2);
  EXPECT_TRUE(says("leave one out"));
}

TEST_F(Ab, AFailedRowIsExitOne) {
  EXPECT_EQ(ab({"--only", "0,7", "--repeat", "2"}, "7=crash"), 1) << errors();
  EXPECT_EQ(records_in("ab/B").size(), 4u) << "the other row ran";
  fs::remove_all(directory / "ab");
  EXPECT_EQ(ab({"--only", "12", "--repeat", "1", "--set-b", "strategy=apex"}, "12=crash"), 1) << errors();
  EXPECT_EQ(records_in("ab/B").at(0)["status"], "SKIPPED");
}

TEST_F(Ab, WhatWasMeasuredIsComparedWhenAFileCannotBeWritten) {
  ASSERT_EQ(ab({"--only", "0", "--repeat", "1"}), 0) << errors();
  const auto kib = fs::file_size(directory / "ab/A/records.jsonl") * 5 / 2 / 1024;
  fs::remove_all(directory / "ab");
  base::Command limited = command({"ab", "--scale", "smoke", "--set", "storage=synthetic", "--out",
                                   directory / "ab", "--only", "0", "--repeat", "5"});
  const std::vector<std::string> shell = {"bash", "-c",
                                          "ulimit -f " + std::to_string(kib) + "; exec \"$0\" \"$@\""};
  limited.arguments.insert(limited.arguments.begin(), shell.begin(), shell.end());
  EXPECT_EQ(exit_code_of(start(limited)), 1);
  EXPECT_TRUE(says("records.jsonl: ")) << errors();
  EXPECT_TRUE(says("2 runs of 5 per side: use --repeat 5")) << "of the pairs that were written: " << output();
  EXPECT_EQ(noise_lines(), 1u) << "only of the whole experiment before";

  fs::remove_all(directory / "ab");
  fs::remove_all(directory / "results/noise");
  std::ofstream(directory / "results/noise") << "a file where a folder should be";
  EXPECT_EQ(ab({"--only", "0", "--repeat", "2"}), 1);
  EXPECT_TRUE(says("results/noise: ")) << errors();
  EXPECT_TRUE(fs::exists(directory / "ab/comparison.txt"));
}

TEST_F(Ab, BadInputIsExitTwo) {
  fs::create_directories(directory / "build");
  EXPECT_EQ(ab({"--only", "0", "--dry-run"}), 2);
  EXPECT_TRUE(says("--dry-run")) << errors();
  EXPECT_EQ(ab({"--only", "0", "--build-b", directory / "build"}), 2);
  EXPECT_TRUE(says("build/train_slice")) << errors();
  EXPECT_EQ(ab({"--only", "0", "--set-b", "precison=o1"}), 2);
  EXPECT_TRUE(says("precision")) << errors();
  EXPECT_EQ(noise_lines(), 0u);
}

TEST_F(Ab, SidesWithOtherRowsAreRefused) {
  const auto config = [this](const std::string& row) {
    const fs::path file = directory / (row + ".yaml");
    std::ofstream(file) << "title: a study\nrows:\n  " << row << ": {title: one row, storage: synthetic}\n";
    return file.string();
  };
  EXPECT_EQ(ab({config("ours"), "--config-b", config("theirs")}), 2);
  EXPECT_TRUE(says("row ours isn't on side B")) << errors();
}

class ValidateCommand : public CompareCommand {
 protected:
  int validate(const std::string& folder, std::vector<std::string> references) {
    std::vector<std::string> words = {"validate", directory / folder, "--against"};
    for (const std::string& reference : references) words.push_back(directory / reference);
    return run(words);
  }
};

TEST_F(ValidateCommand, NamesTheOddNodeWithExitFour) {
  measure("good", "1", "12");
  measure("also", "1", "12");
  measure("slow", "1.5", "12");
  EXPECT_EQ(validate("also", {"good"}), 0);
  EXPECT_TRUE(says("no rank and no node is odd")) << output();
  EXPECT_EQ(validate("slow", {"good", "also"}), 4);
  EXPECT_TRUE(says("ODD: ")) << output();
  EXPECT_TRUE(says("fake")) << "the node by its host: " << output();
}

TEST_F(ValidateCommand, NothingInCommonIsExitThreeAndAMissingRunExitTwo) {
  ASSERT_EQ(smoke_in("a", "0"), 0);
  ASSERT_EQ(smoke_in("b", "1"), 0);
  EXPECT_EQ(validate("a", {"b"}), 3);
  EXPECT_TRUE(says("nothing could be checked")) << output();
  EXPECT_EQ(validate("a", {"missing"}), 2);
  EXPECT_TRUE(says("missing/records.jsonl")) << errors();
  EXPECT_EQ(run({"validate", directory / "a"}), 2) << "against what";
}

}  // namespace harness::compare_command_test
