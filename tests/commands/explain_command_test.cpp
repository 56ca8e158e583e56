// unit: the command explain from outside, with a fake train_slice whose parts have known times; bad input.
#include <algorithm>
#include <set>

#include "tests/support/embedded.h"
#include "tests/support/program.h"
#include "tests/support/small_images.h"

namespace harness::explain_command_test {

class Explain : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    bench::small_dataset(directory / "data", 64);
  }
  int explain(const std::string& row, const std::string& step, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"explain", row, "--scale", "smoke", "--data", directory / "data", "--out",
                               directory / "run"});
    return run(more, {{"FAKE_STEP", step}, {"FAKE_SLICE", behaviour}});
  }
  void expect_refused(std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), "explain");
    words.insert(words.end(), {"--out", directory / "run"});
    EXPECT_EQ(run(words), 2) << why;
    EXPECT_TRUE(says(why)) << why << " in\n" << output() << errors();
    EXPECT_FALSE(fs::exists(directory / "run/records.jsonl"));
  }
  std::set<std::string> changes(const std::string& status) {
    std::set<std::string> found;
    for (const json& record : records_in("run"))
      if (record["status"] == status) found.insert(record["intervention"]["change"].get<std::string>());
    return found;
  }
  std::string behaviour;
};

TEST_F(Explain, NamesTooFewThreads) {
  EXPECT_EQ(explain("7", "decode=10,threads=2,compute=4", {"--set", "loader_threads=2"}), 0) << errors();
  EXPECT_TRUE(says(
      "What binds row 7: loader threads, 100 % of the step: twice the loader threads makes the row 2.00"))
      << output();
  EXPECT_EQ(content_of(directory / "run/explain.txt"), output().substr(output().find("What binds")));
  for (const json& record : records_in("run")) {
    EXPECT_EQ(record["intervention"]["of"], "7");
    if (record["status"] == "OK") {
      EXPECT_EQ(record["timed_batches"], 6);
    }
  }
  EXPECT_EQ(changes("OK"), (std::set<std::string>{"unchanged", "more_threads", "fewer_threads", "fewer_cores",
                                                  "made_up", "lone_devices", "added_host_work",
                                                  "added_read_time", "timed_device", "faster_device"}));
  EXPECT_TRUE(says("one process, no collectives")) << output();
}

TEST_F(Explain, AsAnOptionItFollowsTheRowsOfARunThatAreOK) {
  const std::vector<std::string> words = {
      "--only",           "0,7",   "--scale",         "smoke",    "--data", directory / "data", "--set",
      "loader_threads=2", "--out", directory / "run", "--explain"};
  EXPECT_EQ(run(words, {{"FAKE_STEP", "decode=10,threads=2,compute=4"}, {"FAKE_SLICE", "7=crash"}}), 1)
      << "of the row that failed";
  EXPECT_TRUE(says("What binds row 0: loader threads")) << output();
  EXPECT_FALSE(says("What binds row 7"));
  EXPECT_EQ(records_in("run").size(), 2u);
  for (const json& record : records_in("run/explain")) EXPECT_EQ(record["intervention"]["of"], "0");
  EXPECT_TRUE(fs::exists(directory / "run/explain/explain.txt"));
  EXPECT_EQ(run({"--only", "0", "--explain", "--dry-run"}), 2);
  EXPECT_TRUE(says("can't be combined with --explain"));
  EXPECT_EQ(run({"nightly", "--explain"}), 2);
}

TEST_F(Explain, SlicesOfSlowBatchesAreShortenedAndTheTimeOfABlockIsTold) {
  const auto batches = [&](std::vector<std::string> more) {
    fs::remove_all(directory / "run");
    const std::vector<std::string> words = {
        "explain",          "0",     "--scale",         "rehearsal", "--data",
        directory / "data", "--out", directory / "run", "--change",  "made_up,more_threads",
        "--within",         "4m",    "--repeat",        "1",         "--set",
        "loader_threads=2"};
    more.insert(more.begin(), words.begin(), words.end());
    EXPECT_EQ(run(more, {{"FAKE_STEP", "decode=10000,threads=2,compute=4"}}), 0) << errors();
    std::map<std::string, int64_t> found;
    for (const json& record : records_in("run"))
      if (record["status"] == "OK") found[record["intervention"]["change"]] = record["timed_batches"];
    return found;
  };
  // Scale rehearsal: up to 60 batches. Ten seconds each; three runs share half of the time.
  const auto shortened = batches({});
  EXPECT_EQ(shortened.at("survey"), 3);
  EXPECT_EQ(shortened.at("unchanged"), 4);
  EXPECT_EQ(shortened.at("made_up"), 4);
  EXPECT_TRUE(says("row 0: 10 s a batch, 4 batches a slice: a block of all changes takes up to")) << errors();
  const auto as_asked = batches({"--set", "timed_batches=30"});
  EXPECT_EQ(as_asked.at("made_up"), 30) << "as asked for";
  EXPECT_EQ(as_asked.count("survey"), 0u);
}

TEST_F(Explain, EveryBlockHasEveryChangeOnceThatMayBeACause) {
  EXPECT_EQ(explain("0", "decode=10,threads=2,compute=4", {"--repeat", "6", "--set", "loader_threads=2"}), 0)
      << errors();
  std::map<std::string, std::set<int>> blocks;
  for (const json& record : records_in("run")) {
    if (record["status"] != "OK") continue;
    EXPECT_TRUE(blocks[record["intervention"]["change"].get<std::string>()]
                    .insert(record["intervention"]["block"].get<int>())
                    .second);
  }
  for (const char* change : {"unchanged", "more_threads", "made_up", "fewer_threads", "added_host_work"})
    EXPECT_EQ(blocks[change].size(), 6u) << change;
  for (const char* change : {"timed_device", "faster_device"})
    EXPECT_EQ(blocks[change].size(), 1u) << change << " gains nothing where the loader is half as fast";
}

TEST_F(Explain, HostWorkOfTheRowIsFoundAndTheBurdenIsCritical) {
  EXPECT_EQ(
      explain("0", "decode=1,threads=2,compute=4", {"--set", "host_work_ms=4", "--set", "loader_threads=2"}),
      0)
      << errors();
  EXPECT_TRUE(says("What binds row 0: host work")) << output();
  EXPECT_TRUE(says("each ms added costs 1.00 ms")) << output();
  EXPECT_TRUE(says("each ms added costs 0.00 ms")) << output() << "reading is hidden behind the step";
}

TEST_F(Explain, CollectivesAreLeftOut) {
  EXPECT_EQ(explain("12", "decode=1,threads=2,compute=4,link=6"), 0) << errors();
  EXPECT_TRUE(says("What binds row 12: collectives, 60 % of the step")) << output();
  for (const json& record : records_in("run"))
    if (record["intervention"]["change"] == "no_collectives" && record["status"] == "OK") {
      EXPECT_EQ(record["config"]["collectives"], false);
      EXPECT_NE(record["emulated"].dump().find("no training"), std::string::npos);
    }
}

TEST_F(Explain, AReportFromTheRecordsSaysTheSame) {
  ASSERT_EQ(explain("0", "decode=10,threads=2,compute=4"), 0) << errors();
  const std::string said = content_of(directory / "run/explain.txt");
  fs::remove(directory / "run/explain.txt");
  ASSERT_EQ(run({"report", directory / "run"}), 0) << errors();
  EXPECT_EQ(content_of(directory / "run/explain.txt"), said);
  const json page = json::parse(element(content_of(directory / "run/report.html"), "page"));
  EXPECT_EQ(page.at("sections").at(0).at("id"), "what-binds-row-0");
}

TEST_F(Explain, TimeThatIsUsedUpLeavesFiguresWithoutAVerdict) {
  EXPECT_EQ(explain("0", "decode=10,threads=2,compute=4", {"--within", "0.001s"}), 0) << errors();
  EXPECT_TRUE(says("likely loader, but that is not sure")) << output();
  EXPECT_TRUE(says("it ran 1 time; two or three mostly give a verdict")) << output();
}

TEST_F(Explain, ARowThatFailsIsExitOneAndKeepsItsRecords) {
  behaviour = "crash";
  EXPECT_EQ(explain("0", "compute=4"), 1) << errors();
  EXPECT_FALSE(records_in("run").empty());
}

TEST_F(Explain, ADisturbedRunIsRepeatedAndNoFailure) {
  behaviour = "0-more_threads=invalid";
  EXPECT_EQ(explain("0", "decode=10,threads=2,compute=4", {"--repeat", "3"}), 0) << errors();
  size_t tried = 0;
  for (const json& record : records_in("run")) tried += record["intervention"]["change"] == "more_threads";
  EXPECT_EQ(tried, 4u) << "twice in each of two blocks, then left out";
  EXPECT_TRUE(says("Not measured: more_threads: cache: was warm")) << output();
}

TEST_F(Explain, SeveralRowsAreExplainedOneAfterTheOther) {
  EXPECT_EQ(run({"explain", "0", "7", "--scale", "smoke", "--data", directory / "data", "--out",
                 directory / "run", "--repeat", "1"},
                {{"FAKE_STEP", "decode=10,threads=2,compute=4"}}),
            0)
      << errors();
  EXPECT_TRUE(says("What binds row 0")) << output();
  EXPECT_TRUE(says("What binds row 7")) << output();
}

TEST_F(Explain, OnlyTheChangesThatAreAskedFor) {
  EXPECT_EQ(explain("0", "decode=10,threads=2,compute=4", {"--change", "more_threads,added_host_work"}), 0)
      << errors();
  EXPECT_EQ(changes("OK"), (std::set<std::string>{"unchanged", "more_threads", "added_host_work"}));
}

TEST_F(Explain, ChangesThatOtherRowsShowAreTriedWhenNamed) {
  ASSERT_EQ(
      explain("7", "decode=10,threads=2,compute=4", {"--change", "own_processes,sixteen_bit,no_readahead"}),
      0)
      << output();
  EXPECT_EQ(changes("OK"), (std::set<std::string>{"unchanged", "own_processes", "sixteen_bit"}));
  EXPECT_TRUE(says("no_readahead: it is read from memory already")) << output();
}

TEST_F(Explain, PricesTurnGainsIntoGainsPerMoney) {
  std::ofstream(directory / "prices.yaml") << "unit: EUR/month\ncore: 10\n";
  EXPECT_EQ(explain("7", "decode=10,threads=2,compute=4",
                    {"--set", "loader_threads=2", "--prices", directory / "prices.yaml"}),
            0)
      << errors();
  EXPECT_TRUE(says("gain per EUR/month")) << output();
  EXPECT_TRUE(says("free")) << output();
  const std::string said = content_of(directory / "run/explain.txt");
  ASSERT_EQ(run({"report", directory / "run"}), 0) << errors();
  EXPECT_EQ(content_of(directory / "run/explain.txt"), said);
}

TEST_F(Explain, BadPricesAreRefusedWithFileAndLine) {
  const auto refused = [&](const std::string& text, const std::string& why) {
    std::ofstream(directory / "prices.yaml") << text;
    expect_refused({"0", "--prices", directory / "prices.yaml"}, why);
  };
  refused("core: 10\n", "prices.yaml:1: no unit");
  refused("unit: EUR/month\n", "no price");
  for (const char* price : {"-1", "nan", "ten", "1e308", "1e-300"})
    refused(std::string("unit: EUR/month\ncore: ") + price,
            std::string("prices.yaml:2: wrong value of 'core'; expected a number from 1e-09 to 1000000000, "
                        "or 0; found '") +
                price);
  refused("unit: EUR/month\nram: 1\n", "prices.yaml:2");
  refused("unit: EUR/month\nkWh: 1e308\n", "prices.yaml:2: wrong value of 'kWh'");
  for (const char* power : {"much", "0", "1e-300", "1e308"})
    refused(std::string("unit: EUR/month\nkWh: 0.3\nwatts_per_core: ") + power,
            "prices.yaml:3: wrong value of 'watts_per_core'; expected a number from 0.001 to 1000000 W");
  refused("unit: EUR/month\ncore: 1\nwatts_per_gpu: 250\n",
          "prices.yaml:3: 'watts_per_gpu' without the price");
  refused("unit: EUR/month\nwatts_per_core: 6\n", "prices.yaml:2: 'watts_per_core' without the price");
  refused("unit: EUR/month\nkwh: 0.3\n", "prices.yaml:2");
  refused("", "empty file");
  expect_refused({"0", "--prices", directory / "none.yaml"}, "none.yaml");
}

TEST_F(Explain, BadInputIsRefusedWithTheReason) {
  expect_refused({}, "needs ids of rows, or a command after `--`");
  expect_refused({"99"}, "99");
  expect_refused({"0", "--within", "10"}, "--within");
  expect_refused({"0", "--only", "7"}, "--only");
  expect_refused({"0", "--dry-run"}, "--dry-run");
  expect_refused({"0", "--change", "no_decodin"}, "did you mean 'no_decoding'?");
  expect_refused({"0", "--change", "more_workers"}, "no such change of a row");
  expect_refused({"0", "--set", "collectives=false"}, "no collectives to leave out");
}

}  // namespace harness::explain_command_test
