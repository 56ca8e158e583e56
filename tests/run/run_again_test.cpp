// unit: runs after the planned ones, from outside: disturbed rows, and repeats while there is time;
// with a fake train_slice.
#include <algorithm>

#include "tests/support/program.h"

namespace harness::run_again_test {

class RunAgain : public Program {
 protected:
  void SetUp() override { write_files_that_are_no_images(); }
  // At rehearsal, where disturbed rows have up to three attempts.
  int rehearse(std::vector<std::string> more, const std::string& taken) {
    more.insert(more.end(), {"--scale", "rehearsal", "--only", "0,2", "--set", "storage=synthetic", "--data",
                             directory / "data", "--out", directory / "run"});
    return run(more, {{"FAKE_TAKEN", taken}});
  }
  // Each record in the order of the file: row, attempt, and the attempt that counts after it.
  std::vector<std::string> attempts() {
    std::vector<std::string> all;
    for (const json& record : records_in("run")) {
      const json attempt = record.value("attempt", json{{"number", 1}, {"counts", 1}});
      all.push_back(record["row"].get<std::string>() + ": " + attempt["number"].dump() + " counts " +
                    attempt["counts"].dump());
    }
    return all;
  }
};

using Lines = std::vector<std::string>;

TEST_F(RunAgain, ADisturbedRowHasThreeAttemptsAndAnUndisturbedOneOne) {
  ASSERT_EQ(rehearse({}, "0=0.3"), 0) << errors();
  EXPECT_EQ(attempts(), (Lines{"0: 1 counts 1", "2: 1 counts 1", "0: 2 counts 1", "0: 3 counts 1"}));
  EXPECT_SAYS(records_in("run").at(2)["notes"].dump(), "ran again, because others took");
}

TEST_F(RunAgain, AResumedRunGoesOnCountingAttempts) {
  ASSERT_EQ(rehearse({}, "0=0.3"), 0) << errors();
  std::vector<json> records = records_in("run");
  records.pop_back();  // the third attempt
  std::erase_if(records, [](const json& record) { return record["row"] == "2"; });
  write_records("run", records);
  ASSERT_EQ(run({"--resume", directory / "run"}, {{"FAKE_TAKEN", "0=0.3"}}), 0) << errors();
  EXPECT_EQ(attempts(), (Lines{"0: 1 counts 1", "0: 2 counts 1", "2: 1 counts 1", "0: 3 counts 1"}));
}

TEST_F(RunAgain, TheLeastDisturbedAttemptCounts) {
  ASSERT_EQ(rehearse({}, "0=0.3"), 0) << errors();
  std::vector<json> records = records_in("run");
  records.resize(2);
  std::erase_if(records, [](const json& record) { return record["row"] == "2"; });
  write_records("run", records);
  ASSERT_EQ(run({"--resume", directory / "run"}, {{"FAKE_TAKEN", "0=0.01"}}), 0) << errors();
  EXPECT_EQ(attempts(), (Lines{"0: 1 counts 1", "2: 1 counts 1", "0: 2 counts 2"}));
}

TEST_F(RunAgain, KeepDisturbedRunsEachRowOnce) {
  ASSERT_EQ(rehearse({"--keep-disturbed"}, "0=0.3"), 0) << errors();
  EXPECT_EQ(attempts().size(), 2u);
}

TEST_F(RunAgain, RepeatedRowsOfAMatrixRunInRoundsUpToFiveTimes) {
  const fs::path config = directory / "study.yaml";
  std::ofstream(config) << "title: a study\nrepeated: [b]\nrows:\n  a: {title: A, storage: synthetic}\n"
                           "  b: {title: B, storage: synthetic}\n";
  const auto rows_run = [&](const std::string& within, const std::string& folder) {
    EXPECT_EQ(run({config, "--scale", "rehearsal", "--repeat-within", within, "--data", directory / "data",
                   "--out", directory / folder}),
              0)
        << errors();
    std::string rows;
    for (const json& record : records_in(folder))
      rows += record["row"].get<std::string>() + record["repeat"].dump() + " ";
    return rows;
  };
  EXPECT_EQ(rows_run("2m", "long"), "a0 b0 b1 b2 b3 b4 ");
  EXPECT_EQ(rows_run("0s", "none"), "a0 b0 ");
}

}  // namespace harness::run_again_test
