// unit: the program run_matrix from outside, with a fake train_slice: statuses, records, exit codes,
// interrupts.
#include "tests/support/program.h"

namespace harness::run_test {

class RunMatrix : public Program {
 protected:
  int smoke(const std::string& only, const std::string& behaviour = "", std::vector<std::string> more = {}) {
    return smoke_in("run", only, behaviour, std::move(more));
  }
  std::vector<json> records() { return records_in("run"); }
};

TEST_F(RunMatrix, GoodRowsLeaveRecordsTablesAndExitZero) {
  ASSERT_EQ(smoke("tmpfs,0,7"), 0);
  const auto all = records();
  ASSERT_EQ(all.size(), 3u);
  for (const json& record : all) {
    EXPECT_EQ(record["schema"], 1);
    EXPECT_EQ(record["status"], "OK");
    for (const char* key : {"row",           "repeat",     "reason",        "config",
                            "scale",         "device",     "machine",       "build",
                            "data",          "rank_map",   "world_size",    "window",
                            "timed_batches", "total_s",    "wall_s",        "images_per_second",
                            "samples_ms",    "spans_ms",   "device_ms",     "loss",
                            "cache",         "bad_images", "max_rss_bytes", "ceilings",
                            "timeline"})
      EXPECT_TRUE(record.contains(key)) << key;
    EXPECT_GT(record["wall_s"], 0.0);
  }
  for (const char* file : {"table.txt", "table.md", "table.csv", "report.html"})
    EXPECT_TRUE(fs::exists(directory / "run" / file)) << file;
}

TEST_F(RunMatrix, ARangeOrRankThatARowLacksIsBadInput) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--trace", "4-6"},
                                                {"--trace", "3-2"},
                                                {"--trace", "x"},
                                                {"--wrap", ""},
                                                {"--wrap", " "},
                                                {"--wrap", "true", "--wrap-rank", "1"},
                                                {"--wrap-rank", "0"}})
    EXPECT_EQ(smoke("tmpfs,0", "", words), 2) << words[0] << " " << words.back();
  EXPECT_FALSE(fs::exists(directory / "run"));
}

TEST_F(RunMatrix, AWrapperThatIsMissingIsNamed) {
  ASSERT_EQ(smoke("0", "", {"--wrap", "no-such-program -x"}), 1);
  const json record = records().at(0);
  EXPECT_EQ(record["status"], "CRASHED");
  EXPECT_SAYS(record["reason"].get<std::string>(), "program no-such-program was not found");
  EXPECT_SAYS(record["reason"].get<std::string>(), "install it");
}

TEST_F(RunMatrix, ATraceThatTheRanksDidNotWriteCostsTheRowNothing) {
  ASSERT_EQ(smoke("0", "", {"--trace"}), 0);
  EXPECT_EQ(records().at(0)["status"], "OK");
  EXPECT_FALSE(records().at(0).contains("trace"));
  EXPECT_SAYS(records().at(0)["notes"].dump(), "batches 2-4 were traced");
  EXPECT_SAYS(errors(), "rank-0.kineto.json is missing");
}

TEST_F(RunMatrix, EachWayToFailHasItsStatusAndCostsOnlyItsRow) {
  const std::string behaviours =
      "disk=crash,0=error,1=garbage,2=invalid,3=diverge,4=exit3,5=incomplete,6=silent,12=short";
  ASSERT_EQ(smoke("disk,0,1,2,3,4,5,6,7,12", behaviours), 1);
  std::map<std::string, json> by_row;
  for (const json& record : records()) by_row[record["row"]] = record;
  const std::map<std::string, std::string> expected = {
      {"disk", "CRASHED"}, {"0", "OUT_OF_MEMORY"}, {"1", "CRASHED"}, {"2", "INVALID"}, {"3", "DIVERGED"},
      {"4", "CRASHED"},    {"5", "CRASHED"},       {"6", "CRASHED"}, {"7", "OK"},      {"12", "CRASHED"}};
  for (const auto& [row, status] : expected) {
    EXPECT_EQ(by_row[row]["status"], status) << row;
    if (status == "OK") continue;
    EXPECT_FALSE(by_row[row]["reason"].get<std::string>().empty()) << row;
    EXPECT_FALSE(by_row[row].contains("total_s")) << row << " failed and must have no number";
    EXPECT_FALSE(by_row[row].contains("images_per_second")) << row;
  }
  EXPECT_SAYS(by_row["disk"]["reason"].get<std::string>(), "about to fall over");
  EXPECT_SAYS(by_row["0"]["reason"].get<std::string>(), "wanted 1 TB");
  for (const auto& [row, why] :
       {std::pair("1", "line 1: the JSON is cut off"), std::pair("5", "line 2: `place` is missing"),
        std::pair("6", "No such file"), std::pair("12", "expected 5 lines")}) {
    const std::string reason = by_row[row]["reason"];
    EXPECT_SAYS(reason, "slice.jsonl is not a complete result");
    EXPECT_SAYS(reason, why);
  }
}

TEST_F(RunMatrix, AHungRowIsNamedWithStacksAndEnded) {
  ASSERT_EQ(smoke("0,7", "0=hang", {"--hang-after", "1"}), 1);
  const auto all = records();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["status"], "HUNG");
  EXPECT_SAYS(all[0]["reason"].get<std::string>(), "; it still reads /copy; the record's");
  EXPECT_SAYS(all[0]["stacks"][0].get<std::string>(), "stack of the fake");
  EXPECT_SAYS(all[0]["stacks"][0].get<std::string>(),
              "group 0: last enqueued nccl:all_reduce 57 of [[1024]], started; last completed none")
      << all[0]["stacks"];
  EXPECT_EQ(all[1]["status"], "OK");
}

TEST_F(RunMatrix, ARowThatTakesTooLongIsATimeout) {
  ASSERT_EQ(smoke("0", "slow", {"--timeout", "1"}), 1);
  EXPECT_EQ(records()[0]["status"], "TIMEOUT");
}

TEST_F(RunMatrix, OneRankOfFourFailingEndsTheOthers) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(smoke("12", "crash"), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20))
      << "the others sleep for an hour";
  EXPECT_EQ(records()[0]["status"], "CRASHED");
  EXPECT_SAYS(records()[0]["reason"].get<std::string>(), "rank 3");
}

TEST_F(RunMatrix, RowsWhoseValuesAreMissingAreSkippedWithTheReason) {
  ASSERT_EQ(smoke("7,13,17"), 0);
  const auto all = records();
  EXPECT_EQ(all[1]["status"], "SKIPPED");
  EXPECT_EQ(all[1]["reason"], "no apex here");
  EXPECT_EQ(all[2]["reason"], "no second node here");
}

TEST_F(RunMatrix, NothingButSkippedRowsIsExitThree) { EXPECT_EQ(smoke("13,17"), 3); }

TEST_F(RunMatrix, TorchrunShowsNoTracebackForASkippedRow) {
  EXPECT_EQ(run({"--launcher", "env", "--scale", "smoke", "--only", "12", "--out", directory / "run"},
                {{"RANK", "0"}, {"WORLD_SIZE", "2"}}),
            0)
      << "any other exit code makes torchrun raise an exception";
  EXPECT_EQ(records().at(0)["status"], "SKIPPED");
  EXPECT_TRUE(says("the row has 4 ranks, but WORLD_SIZE is 2")) << output();
}

TEST_F(RunMatrix, RanksThatCouldNotMeetAreNoticedBeforeTheyStart) {
  if (::system("unshare --net true 2> /dev/null") != 0) GTEST_SKIP() << "a network of its own takes root";
  base::Command alone = command({"--scale", "smoke", "--device", "cpu", "--only", "0,12", "--set",
                                 "storage=synthetic", "--out", directory / "run"});
  alone.arguments.insert(alone.arguments.begin(), {"unshare", "--net"});  // lo is down in it
  EXPECT_EQ(exit_code_of(start(alone)), 0) << errors();
  EXPECT_EQ(records().at(0)["status"], "OK") << "one rank needs no network";
  EXPECT_EQ(records().at(1)["status"], "SKIPPED");
  EXPECT_TRUE(says("its loopback interface, which is down: ip link set lo up")) << output();
}

TEST_F(RunMatrix, AColdRowThatWouldReadAnImageTwiceIsSkipped) {
  const std::string data = (directory / "data").string();
  ASSERT_EQ(
      ::system((BINARY_DIR "/make_dataset standin --images 60 --out " + data + " > /dev/null 2>&1").c_str()),
      0);
  ASSERT_EQ(smoke("disk,0", "", {"--data", data}), 0);
  EXPECT_EQ(records()[0]["status"], "SKIPPED");
  EXPECT_SAYS(records()[0]["reason"].get<std::string>(), "needs 208 images, but the data has 60");
  EXPECT_EQ(records()[1]["status"], "OK");
}

TEST_F(RunMatrix, ADeviceWithoutAnImageIsSkipped) {
  ASSERT_EQ(smoke("0,7", "", {"--devices", "12"}), 0);  // 32 images in shares of 3: eleven devices
  EXPECT_EQ(records()[1]["status"], "SKIPPED");
  EXPECT_SAYS(records()[1]["reason"].get<std::string>(), "without images");
}

TEST_F(RunMatrix, AFullDiskShowsWhatFinishedAndNamesTheFile) {
  const fs::path disk = directory / "disk";
  fs::create_directories(disk);
  if (::system(("mount -t tmpfs -o size=48k none " + disk.string() + " 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << "a small file system can be mounted only as root";
  const int code = run({"--scale", "smoke", "--only", "0,1,2,3,4,5,6,7", "--out", disk / "run"});
  const std::string out = content_of(directory / "out"), message = errors();
  EXPECT_EQ(::system(("umount " + disk.string()).c_str()), 0);
  EXPECT_EQ(code, 1) << message;
  EXPECT_SAYS(out, "one device, large batch") << "no table of what finished: " << out;
  EXPECT_SAYS(message, "No space left");
}

TEST_F(RunMatrix, RepeatsAreInterleaved) {
  ASSERT_EQ(smoke("0,7", "", {"--repeat", "2"}), 0);
  std::string order;
  for (const json& record : records())
    order += record["row"].get<std::string>() + std::to_string(record["repeat"].get<int>()) + " ";
  EXPECT_EQ(order, "00 70 01 71 ");
}

TEST_F(RunMatrix, AccuracyHasItsOwnSeedsAndTimedRowsRunOnce) {
  ASSERT_EQ(smoke("tmpfs,accuracy-o0,accuracy-o2", "", {SOURCE_DIR "/configs/article.yaml", "--accuracy"}),
            0);
  std::string order;
  for (const json& record : records())
    order += record["row"].get<std::string>() + std::to_string(record["config"]["seed"].get<int>()) + " ";
  EXPECT_EQ(order, "tmpfs1 accuracy-o01 accuracy-o21 accuracy-o02 accuracy-o22 accuracy-o03 accuracy-o23 ");
  const auto all = records();
  EXPECT_EQ(all[0]["data"]["classes"], 100);
  EXPECT_EQ(all[1]["data"]["classes"], 40);
  EXPECT_EQ(all[1]["config"]["classes"], 40) << "as many as the data has";
  EXPECT_EQ(all[1]["accuracy"]["top1"], 0.5);
  EXPECT_FALSE(all[0].contains("accuracy"));
  EXPECT_SAYS(content_of(directory / "out"), "no evidence for claim 4");
}

TEST_F(RunMatrix, AccuracyThatDivergesShowsNoFigure) {
  ASSERT_EQ(smoke("accuracy-o0,accuracy-o3", "accuracy-o3=diverge", {"--accuracy", "--repeat", "2"}), 1);
  EXPECT_SAYS(content_of(directory / "out"), "2 DIVERGED");
}

TEST_F(RunMatrix, AccuracyOnAFolderNeedsImagesToValidateOn) {
  const std::string data = (directory / "data").string();
  ASSERT_EQ(::system((BINARY_DIR "/make_dataset standin --images 60 --classes 5 --out " + data +
                      " > /dev/null 2>&1")
                         .c_str()),
            0);
  ASSERT_EQ(smoke("accuracy-o0", "", {"--accuracy", "--data", data}), 3);
  EXPECT_EQ(records()[0]["status"], "SKIPPED");
  EXPECT_SAYS(records()[0]["reason"].get<std::string>(), "no folder val");
  const std::vector<std::string> dry = {"--scale", "smoke", "--accuracy", "--data", data, "--dry-run"};
  EXPECT_EQ(run(dry), 0);
  EXPECT_TRUE(says("no folder val")) << output();
  fs::create_directories(directory / "data" / "val");
  EXPECT_EQ(run(dry), 2);
  EXPECT_TRUE(says("/val: it has no class folders")) << errors();
  fs::create_directories(directory / "data" / "val" / "n00000099");
  EXPECT_EQ(run({"--scale", "smoke", "--accuracy", "--data", data, "--out", directory / "run2"}), 2);
  EXPECT_SAYS(errors(), "n00000099 is not in train");
}

TEST_F(RunMatrix, InterruptKeepsFinishedRowsPrintsTheTableAndEndsTheRanks) {
  const pid_t pid = base::start(
      command({"--scale", "smoke", "--only", "0,7", "--out", directory / "run"}, {{"FAKE_SLICE", "7=slow"}}));
  for (int i = 0; i < 300 && content_of(directory / "err").find("[1/2]") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ::kill(pid, SIGINT);
  EXPECT_EQ(exit_code_of(pid), 130);
  ASSERT_EQ(records().size(), 1u);
  EXPECT_SAYS(content_of(directory / "out"), "row") << "no table";
  const std::string ranks = "pgrep -f '[f]ake_slice --job " + (directory / "run").string() + "' > /dev/null";
  EXPECT_NE(::system(ranks.c_str()), 0) << "a rank is left";
}

TEST_F(RunMatrix, BadInputIsExitTwoBeforeAnythingStarts) {
  using Words = std::vector<std::string>;
  struct Case {
    Words arguments;
    std::string word;  // that the message must contain
  };
  const std::vector<Case> cases = {
      {Words{"--only", "77"}, "77"},
      {Words{"--scale", "huge"}, "huge"},
      {Words{"--set", "precison=o2"}, "precision"},
      {Words{"--set", "batch=ten"}, "batch"},
      {Words{"--no-such-option"}, "no-such-option"},
      {Words{"no-such-file.yaml"}, "no-such-file.yaml"},
      {Words{"--repeat", "0"}, "repeat"},
      {Words{"--only", ""}, "names no row"},
      {Words{"--device", "tpu"}, "tpu"},
      {Words{"--timeout", "nan"}, "seconds"},
      {Words{"--only", "0", "--set", "published_s=1"}, "published_s"},
      {Words{"--only", "0", "--set", "published_ms=h2d=1"}, "published_ms"},
      {Words{"report", "no-such-run"}, "no-such-run"},
      {Words{"--only", "12", "--set", "validation=true"}, "strategy: single"},
      {Words{"--only", "0", "--set", "validation=true", "--set", "storage=synthetic"},
       "nothing can be learned"},
      {Words{"--data", "/no/such/folder", "--out", (directory / "a").string()}, "/no/such/folder"},
      {Words{"--out", "/proc/no/such", "--scale", "smoke"}, "/proc/no/such"},
  };
  for (const auto& [arguments, word] : cases) {
    EXPECT_EQ(run(arguments), 2) << arguments[0];
    const std::string message = errors();
    EXPECT_SAYS(message, word) << arguments[0] << ": " << message;
    EXPECT_LT(std::count(message.begin(), message.end(), '\n'), 4) << message;
  }
}

TEST_F(RunMatrix, ARefusedPreparationLeavesTheFolderFree) {
  fs::create_directories(directory / "data" / "train");
  EXPECT_EQ(smoke("0", "", {"--data", directory / "data"}), 2);
  EXPECT_EQ(smoke("0"), 0) << errors();
}

TEST_F(RunMatrix, RefusesToMixTwoRuns) {
  ASSERT_EQ(smoke("0"), 0);
  EXPECT_EQ(smoke("0"), 2);
  EXPECT_EQ(records().size(), 1u);
}

TEST_F(RunMatrix, DryRunPrintsTheCommandOfEveryRankAndWritesNothing) {
  ASSERT_EQ(run({"--dry-run", "--scale", "smoke", "--only", "12", "--out", directory / "run"}), 0);
  const std::string out = content_of(directory / "out");
  for (int rank = 0; rank < 4; ++rank) EXPECT_SAYS(out, "RANK=" + std::to_string(rank));
  EXPECT_FALSE(fs::exists(directory / "run"));
}

TEST_F(RunMatrix, DryRunPrintsALineThatRunsTheRow) {
  ASSERT_EQ(run({"--dry-run", "--scale", "smoke", "--only", "0,7", "--set", "seed=3"}), 0);
  const std::string script = SOURCE_DIR "/run_matrix";
  std::vector<std::string> lines;
  std::istringstream out(output());
  for (std::string line; std::getline(out, line);)
    if (line.starts_with(script)) lines.push_back(line);
  ASSERT_EQ(lines.size(), 2u) << output();
  ASSERT_TRUE(fs::exists(script));
  // The script sets up the machine first; the test runs the program that it ends with.
  const std::string line =
      command({}).arguments[0] + lines[1].substr(script.size()) + " --out " + (directory / "run").string();
  base::Command pasted = command({});
  pasted.arguments = {"bash", "-c", line};
  ASSERT_EQ(exit_code_of(start(pasted)), 0) << line;
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0]["row"], "7");
  EXPECT_EQ(records()[0]["config"]["seed"], 3);
  EXPECT_EQ(records()[0]["scale"]["name"], "smoke");
}

TEST_F(RunMatrix, ReportRebuildsTheTableFromRecords) {
  ASSERT_EQ(smoke("0,7"), 0);
  const std::string before = content_of(directory / "run" / "table.md");
  fs::remove(directory / "run" / "table.md");
  ASSERT_EQ(run({"report", directory / "run"}), 0);
  EXPECT_EQ(content_of(directory / "run" / "table.md"), before);
}

TEST_F(RunMatrix, AnEmptyRunIsExitThree) {
  fs::create_directories(directory / "run");
  std::ofstream(directory / "run" / "records.jsonl").flush();
  EXPECT_EQ(run({"report", directory / "run"}), 3);
}

}  // namespace harness::run_test
