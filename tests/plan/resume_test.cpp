// unit: resuming a run of run_matrix and running what failed again, with a fake train_slice; and --budget.
#include <algorithm>

#include "harness/stats/provenance.h"
#include "tests/support/program.h"

namespace harness::resume_test {

class Resume : public Program {
 protected:
  int smoke(const std::string& only, const std::string& behaviour = "", std::vector<std::string> more = {}) {
    return smoke_in("run", only, behaviour, std::move(more));
  }
  int go_on(const char* how = "--resume", std::vector<std::string> more = {},
            const std::map<std::string, std::string>& environment = {}) {
    more.insert(more.end(), {how, directory / "run"});
    return run(more, environment);
  }
  void expect_refused(const std::string& why, const std::vector<std::string>& more = {}) {
    EXPECT_EQ(go_on("--resume", more), 2) << why;
    EXPECT_TRUE(says(why)) << errors();
  }
  // Row and repeat of each record in the order of the file.
  std::string order() {
    std::string all;
    for (const json& record : records_in("run"))
      all += record["row"].get<std::string>() + "." + std::to_string(record["repeat"].get<int>()) + " ";
    return all;
  }
  void change_records(const std::function<void(json&)>& change) {
    std::vector<json> all = records_in("run");
    for (json& record : all) change(record);
    write_records("run", all);
  }
};

TEST_F(Resume, AfterAKillInTheMiddleRunsOnlyWhatIsMissing) {
  const pid_t pid = start(command({"--scale", "smoke", "--only", "0,1,7", "--repeat", "2", "--set",
                                   "storage=synthetic", "--out", directory / "run"},
                                  {{"FAKE_SLICE", "7=slow"}}));
  for (int i = 0; i < 600 && errors().find("[2/6]") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  expect_refused("still writing");
  ::kill(pid, SIGKILL);
  EXPECT_EQ(exit_code_of(pid), 128 + SIGKILL);
  ASSERT_EQ(order(), "0.0 1.0 ");
  const fs::path file = directory / "run" / "records.jsonl";
  fs::resize_file(file, fs::file_size(file) - 100);  // as if the kill had come while row 1 was written
  ASSERT_EQ(run_after_kill({"--resume", directory / "run"}), 0) << errors();
  EXPECT_TRUE(says("about"));
  EXPECT_TRUE(says("5 runs of 3 rows")) << output();
  std::vector<std::string> rows;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const json record = json::parse(line, nullptr, false);
    rows.push_back(record.is_discarded() ? "damaged" : record["row"].get<std::string>());
    if (record.is_discarded()) continue;
    EXPECT_EQ(record["config"]["storage"], "synthetic") << "as the run began";
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"0", "damaged", "1", "7", "0", "1", "7"}));
  EXPECT_NE(output().find("\n0 "), std::string::npos) << "the report is of all records";
  ASSERT_EQ(go_on(), 0);
  EXPECT_TRUE(says("nothing is left to run"));
}

TEST_F(Resume, MoreRepeatsMayBeAskedForAndFewerNot) {
  ASSERT_EQ(smoke("0"), 0);
  ASSERT_EQ(go_on("--resume", {"--repeat", "3"}), 0);
  EXPECT_EQ(order(), "0.0 0.1 0.2 ");
  expect_refused("repeat 3", {"--repeat", "2"});
  EXPECT_EQ(go_on("--resume", {"--timeout", "5", "--out", directory / "run"}), 0) << "a limit may change";
}

TEST_F(Resume, FailuresOfRepeatsThatNobodyAskedForRunAgainToo) {
  ASSERT_EQ(smoke("0"), 0);
  std::vector<json> all = records_in("run");
  all.push_back(all[0]);
  all.back()["repeat"] = 2;  // as rows are repeated while there is time
  all.back()["status"] = "HUNG";
  all.back()["reason"] = "no batch for 60 s";
  write_records("run", all);
  EXPECT_EQ(go_on("--only-failed"), 0) << errors();
  EXPECT_EQ(order(), "0.0 0.2 0.2 ");
}

TEST_F(Resume, OptionsThatContradictTheRunAreRefused) {
  ASSERT_EQ(smoke("0"), 0);
  using Words = std::vector<std::string>;
  for (const Words& words : {Words{"--only", "1"}, Words{"--scale", "rehearsal"}, Words{"--seed", "2"},
                             Words{"--set", "precision=o1"}, Words{SOURCE_DIR "/configs/formats.yaml"},
                             Words{"--accuracy"}, Words{"--data", "/tmp"}, Words{"--out", "/tmp/elsewhere"},
                             Words{"--launcher", "slurm"}, Words{"--devices", "2"}})
    expect_refused(words.size() > 1 ? words[0].substr(2) : "config", words);
  EXPECT_EQ(go_on("--resume", {"--only", "0", "--scale", "smoke"}), 0) << "they say what the run says";
  EXPECT_EQ(order(), "0.0 ");
}

TEST_F(Resume, AnEditedRequestIsCheckedAsACommandLine) {
  const std::string images = directory / "images";  // a stand-in set would depend on the seed
  ASSERT_EQ(
      ::system(
          (BINARY_DIR "/make_dataset standin --images 60 --out " + images + " > /dev/null 2>&1").c_str()),
      0);
  ASSERT_EQ(
      smoke("0", "", {"--repeat-within", "90s", "--keep-disturbed", "--timeout", "100", "--data", images}),
      0);
  const fs::path file = directory / "run" / "request.json";
  const json request = json::parse(content_of(file));
  const auto refused = [&](const char* name, const json& value, const std::string& why) {
    json edited = request;
    edited[name] = value;
    std::ofstream(file) << edited;
    expect_refused(why, {"--repeat", "2"});
  };
  refused("seed", -1, "request.json: damaged: --seed: Value -1");
  refused("seed", 2, "row 0 ran with seed 1, and would go on with 2");
  refused("timeout", -5.0, "request.json: damaged: --timeout: expected seconds");
  refused("hang-after", 1e12, "--hang-after");
  refused("devices", -1, "--devices: Value -1");
  refused("port", 99999999, "--port: Value 99999999");
  refused("repeat-within", -3.0, "--repeat-within");
  refused("launcher", "teleport", "--launcher: teleport");
  refused("hosts", "a,,b", "--hosts");
  refused("wrap", " ", "--wrap");
  refused("wrap-rank", 3, "--wrap");
  EXPECT_EQ(order(), "0.0 ");
  std::ofstream(file) << request;
  EXPECT_EQ(go_on("--resume", {"--repeat", "2"}), 0) << "all that its own command line gave";
}

TEST_F(Resume, AnotherEnvironmentIsRefusedAndNamed) {
  ASSERT_EQ(smoke("0,1"), 0);
  write_records("run", {records_in("run")[0]});
  change_records([](json& record) { record["machine"]["kernel"] = "Linux 2.6"; });
  expect_refused("kernel Linux 2.6 -> Linux");
  EXPECT_EQ(order(), "0.0 ");
  change_records([](json& record) { record["status"] = "CRASHED"; });
  EXPECT_EQ(go_on(), 2) << "the failed record would stay beside the new ones";
  EXPECT_EQ(go_on("--only-failed"), 0) << "nothing of the other environment is left";
  EXPECT_EQ(order(), "0.0 0.0 ");
  EXPECT_EQ(go_on(), 0);
  EXPECT_EQ(order(), "0.0 0.0 1.0 ");
}

TEST_F(Resume, ADriverThatShowsOnlyWhenARowRunsIsRefusedToo) {
  ASSERT_EQ(smoke("0,1"), 0);
  write_records("run", {records_in("run")[0]});
  change_records([](json& record) { record["device"]["driver"] = "550.1"; });
  expect_refused("driver 550.1 -> unknown");
  EXPECT_EQ(order(), "0.0 ") << "the record that doesn't belong here is kept elsewhere";
  std::ifstream refused(directory / "run" / "refused.jsonl");
  std::string record;
  ASSERT_TRUE(std::getline(refused, record));
  EXPECT_EQ(json::parse(record)["row"], "1");
}

TEST(SameEnvironment, PyTorchsRowsMayNotKnowTheDriver) {
  harness::Record ours, pytorchs;
  ours.device.driver = "550.1";
  EXPECT_FALSE(harness::same_environment(ours, pytorchs)) << "both rows are this suite's";
  pytorchs.config.engine = "pytorch";
  EXPECT_TRUE(harness::same_environment(ours, pytorchs));
  pytorchs.device.driver = "580.2";
  EXPECT_FALSE(harness::same_environment(ours, pytorchs));
}

TEST_F(Resume, AnotherConfigurationIsRefusedAndNamed) {
  const fs::path config = directory / "study.yaml";
  const auto write = [&](const char* batch, const char* second) {
    std::ofstream(config) << "title: a study\nrows:\n  a: {title: A, batch: " << batch
                          << ", storage: synthetic}\n  " << second
                          << ": {title: B, batch: 512, storage: synthetic}\n";
  };
  write("512", "b");
  ASSERT_EQ(run({config, "--scale", "smoke", "--out", directory / "run"}), 0) << errors();
  write_records("run", {records_in("run")[0]});
  write("256", "b");
  expect_refused("row a ran with other settings");
  EXPECT_TRUE(says("batch 32 -> 16")) << errors();
  std::ofstream(config) << "title: a study\nrows:\n  b: {title: B, storage: synthetic}\n";
  expect_refused("row a, which its matrix no longer has");
  write("512", "b");
  EXPECT_EQ(go_on(), 0);
  EXPECT_EQ(order(), "a.0 b.0 ");
}

TEST_F(Resume, AnotherContentOfTheDeviceFileIsRefused) {
  const fs::path file = directory / "mine.yaml";
  std::string content = content_of(SOURCE_DIR "/configs/devices/test-150.yaml");
  content.replace(content.find("name: test-150"), 14, "name: mine");
  std::ofstream(file) << content;
  ASSERT_EQ(run({"--device", "emulated:" + file.string(), "--scale", "smoke", "--only", "0,1", "--set",
                 "storage=synthetic", "--out", directory / "run"}),
            0)
      << errors();
  write_records("run", {records_in("run")[0]});
  std::string changed = content;
  changed.replace(changed.find("{value: 2.0"), 11, "{value: 3.0");
  std::ofstream(file) << changed;
  expect_refused("mine.yaml of row 0 has changed");
  std::ofstream(file) << content;
  EXPECT_EQ(go_on(), 0) << errors();
}

TEST_F(Resume, OnlyFailedRunsWhatFailedAndNothingElse) {
  ASSERT_EQ(smoke("0,1,7,13", "1=crash,7=diverge", {"--repeat", "2"}), 1);
  const std::string before = order();
  EXPECT_EQ(go_on(), 1) << "a failed row stays failed";
  EXPECT_TRUE(says("nothing is left"));
  EXPECT_EQ(order(), before);
  ASSERT_EQ(go_on("--only-failed", {}, {{"FAKE_SLICE", "7=diverge"}}), 1);
  EXPECT_EQ(order(), before + "1.0 7.0 1.1 7.1 ");
  ASSERT_EQ(go_on("--only-failed"), 0);
  EXPECT_EQ(order(), before + "1.0 7.0 1.1 7.1 7.0 7.1 ");
  EXPECT_EQ(output().find("DIVERGED"), std::string::npos) << "of two records the later counts";
  ASSERT_EQ(go_on("--only-failed"), 0);
  EXPECT_TRUE(says("no row failed"));
}

TEST_F(Resume, LeftoversOfARowAreNotTakenForItsResult) {
  ASSERT_EQ(smoke("0"), 0);
  write_records("run", {});
  EXPECT_EQ(go_on("--resume", {}, {{"FAKE_SLICE", "silent"}}), 1);
  EXPECT_EQ(records_in("run").at(0)["status"], "CRASHED") << "slice.jsonl was that of the first try";
}

TEST_F(Resume, DryRunShowsWhatIsMissing) {
  ASSERT_EQ(smoke("0,7"), 0);
  write_records("run", {records_in("run")[0]});
  EXPECT_EQ(go_on("--resume", {"--dry-run"}), 0);
  EXPECT_NE(output().find("--only 7"), std::string::npos) << output();
  EXPECT_EQ(output().find("--only 0"), std::string::npos) << output();
  EXPECT_EQ(order(), "0.0 ");
}

TEST_F(Resume, BadInputIsExitTwo) {
  expect_refused("request.json: no such file");
  ASSERT_EQ(smoke("0"), 0);
  const fs::path request = directory / "run" / "request.json";
  const std::string good = content_of(request);
  for (const std::string& bad : {std::string(), std::string("{"), std::string("[]"),
                                 std::string("{\"only\": 7}"), good.substr(0, good.size() / 2)}) {
    std::ofstream(request) << bad;
    expect_refused("request.json: damaged");
    const std::string message = errors();
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
  }
  std::ofstream(request) << good;
  EXPECT_EQ(run({"--resume", directory / "run", "--only-failed", directory / "run"}), 2);
  expect_refused("can't be used with this command", {"list"});
  fs::remove(directory / "run" / "records.jsonl");
  expect_refused("records.jsonl");
}

// Rows that no run has shown yet are taken for two seconds each.
class WithBudget : public Resume {};

TEST_F(WithBudget, WhatIsLeftOutIsNamedAndCanBeRunLater) {
  ASSERT_EQ(smoke("0,7,12,13", "", {"--budget", "5s"}), 0);
  EXPECT_EQ(order(), "0.0 7.0 13.0 ") << "13 is skipped, which takes no time";
  EXPECT_TRUE(says("(3 estimated)")) << output();
  EXPECT_TRUE(says("budget 5.0 s: 2 of 3 rows")) << output();
  EXPECT_NE(content_of(directory / "run" / "left_out.txt").find("12             left out: needs 2."),
            std::string::npos);
  ASSERT_EQ(run({"report", directory / "run"}), 0);
  EXPECT_TRUE(says("left out (./run_matrix --resume ")) << output();
  ASSERT_EQ(go_on(), 0);
  EXPECT_EQ(order(), "0.0 7.0 13.0 12.0 ");
  EXPECT_FALSE(fs::exists(directory / "run" / "left_out.txt"));
}

TEST_F(WithBudget, KnownRowsNeedNoEstimate) {
  ASSERT_EQ(run({"--scale", "smoke", "--only", "0,7,12"}), 0) << "into results/runs";
  ASSERT_EQ(smoke("0,7,12", "", {"--budget", "5s"}), 0);
  EXPECT_TRUE(says("for 3 rows (3 known from earlier runs)")) << output();
  EXPECT_EQ(order(), "0.0 7.0 12.0 ") << "they are quick, as the first run showed";
}

TEST_F(WithBudget, TooLittleForAnyRowIsExitTwo) {
  ASSERT_EQ(smoke("0,7", "", {"--budget", "1.5s"}), 2);
  EXPECT_TRUE(says("the shortest row, 0, will take about 2.")) << errors();
  ASSERT_EQ(smoke("0", "", {"--budget", "3s", "--repeat", "2"}), 2) << "repeats count";
  ASSERT_EQ(smoke("0", "", {"--budget", "3s"}), 0) << "the folder is free again";
  ASSERT_EQ(run({"--scale", "smoke", "--only", "0", "--budget", "1s"}), 2);
  for (const auto& entry : fs::directory_iterator(directory / "results" / "runs"))
    EXPECT_EQ(entry.path().filename(), "durations.json") << "nothing ran, so no run is left there";
}

TEST_F(WithBudget, TimeThatIsUsedUpEndsTheRunBeforeTheNextRow) {
  ASSERT_EQ(smoke("0,7", "0=slow", {"--budget", "5s", "--timeout", "6"}), 1);
  EXPECT_EQ(order(), "0.0 ");
  EXPECT_TRUE(says("repeat 0: the budget was used up")) << output();
}

TEST_F(WithBudget, BadTextIsExitTwo) {
  for (const char* bad : {"", "30", "x", "-3m", "0s", "0.0m", "nans", "3M", "1e99h", "3m3"}) {
    EXPECT_EQ(smoke("0", "", {"--budget", bad}), 2) << bad;
    EXPECT_TRUE(says("--budget")) << errors();
  }
  EXPECT_EQ(run({"ab", "--budget", "3m"}), 2);
  EXPECT_FALSE(fs::exists(directory / "run"));
}

}  // namespace harness::resume_test
