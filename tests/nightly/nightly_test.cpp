// unit: the command nightly from outside: what it keeps, its exit codes, what it says, nights that were cut
// short.
#include "harness/nightly/nightly.h"

#include <cmath>
#include <thread>

#include "harness/base/machine.h"
#include "harness/base/time_stamp.h"
#include "harness/nightly/machine_health.h"
#include "harness/nightly/open_night.h"
#include "harness/nightly/trend.h"
#include "tests/support/nightly_run.h"
#include "tests/support/temporary_folder.h"

namespace harness::nightly_test {

class NightlyTest : public NightlyRun {
 protected:
  // A history of this machine and these rows: `count` nights, of which the last two have other times.
  void make_history(int count, double rows_by, double canaries_by) {
    ASSERT_EQ(run(nightly()), 0);
    const Night real = nights().at(0);
    fs::remove_all(history_folder());
    std::ostringstream warnings;
    std::vector<Night> made;
    for (int i = 0; i < count; ++i) {
      Night night = real;
      night.id = "made-" + std::to_string(i);
      night.started_at = "2026-01-01T00:00:" + std::to_string(10 + i) + "Z";
      const bool last = i >= count - 2;
      const double noise = 1 + 0.004 * std::sin(7.0 * i);
      for (NightRow& row : night.rows)
        for (double& total : row.totals_s) total *= noise * (last && row.row == "0" ? rows_by : 1);
      for (auto& [name, ms] : night.canaries) ms *= noise * (last ? canaries_by : 1);
      made.push_back(night);
    }
    History(history_folder(), warnings).append_new(made);
  }
  // Of row 0 alone, so that row 1 isn't slowed down.
  static Words row_0() {
    return {"nightly", "--scale", "smoke", "--only", "0", "--set", "storage=synthetic", "--no-report"};
  }
  size_t records_in(const fs::path& run) const {
    const std::string all = content_of(run / "records.jsonl");
    return size_t(std::count(all.begin(), all.end(), '\n'));
  }
  // Starts a night whose row 1 never ends, and waits until row 0 is recorded.
  pid_t start_endless_night(const Words& more) {
    const pid_t pid = start(nightly(more), {{"FAKE_SLICE", "1=slow"}});
    for (int i = 0; i < 600; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::error_code none;
      for (const auto& run : fs::directory_iterator(results() / "runs", none))
        if (records_in(run) > 0) return pid;
    }
    ADD_FAILURE() << "row 0 was never recorded";
    return pid;
  }
};

TEST_F(NightlyTest, KeepsRowsCanariesAndTagAndLeavesReportAndTrendPage) {
  ASSERT_EQ(run(nightly({"--tag", "main"})), 0);
  const auto all = nights();
  ASSERT_EQ(all.size(), 1u);
  const Night& night = all[0];
  EXPECT_EQ(night.tag, "main");
  EXPECT_TRUE(night.complete);
  ASSERT_EQ(night.rows.size(), 2u);
  EXPECT_EQ(night.rows[0].totals_s.size(), 3u) << "three repeats unless told otherwise";
  EXPECT_GT(night.rows[0].metrics.at("images_per_second"), 0);
  EXPECT_DOUBLE_EQ(night.canaries.at("gemm_ms"), 3);
  for (const char* file : {"records.jsonl", "table.txt", "report.html"})
    EXPECT_TRUE(fs::exists(fs::path(night.run) / file)) << file;
  EXPECT_TRUE(fs::exists(history_folder() / "trend.html"));
  EXPECT_TRUE(fs::is_empty(history_folder() / "open"));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "rows: 2 OK", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "are searched from 20 nights on, 19 more", output());
}

// Rows that no run has shown yet are taken for two seconds each.
TEST_F(NightlyTest, ABudgetLeavesRowsOutAndSaysWhich) {
  EXPECT_EQ(run(nightly({"--budget", "5s"})), 2) << "not three runs of one row";
  EXPECT_TRUE(says("will take about 6"));
  EXPECT_TRUE(nights().empty());
  ASSERT_EQ(run(nightly({"--budget", "7s", "--no-report"})), 0);
  ASSERT_EQ(nights().size(), 1u);
  ASSERT_EQ(nights()[0].rows.size(), 1u);
  EXPECT_EQ(nights()[0].rows[0].row, "0");
  EXPECT_TRUE(nights()[0].complete);
  EXPECT_TRUE(says("left out")) << output();
  ASSERT_EQ(run(nightly({"--budget", "2m", "--no-report"})), 0);
  EXPECT_EQ(nights().at(1).rows.size(), 2u);
  EXPECT_FALSE(says("left out"));
}

TEST_F(NightlyTest, AFailedRowIsNamedAndCostsTheOthersNothing) {
  EXPECT_EQ(run(nightly(), {{"FAKE_SLICE", "1=crash"}}), 1);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "rows: 1 OK, 1 failed", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "1: 3 of 3 runs CRASHED: ", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "about to fall over", output());
  ASSERT_EQ(nights().size(), 1u);
  EXPECT_TRUE(nights()[0].rows[0].ok());
  EXPECT_FALSE(nights()[0].rows[1].ok());
}

TEST_F(NightlyTest, SaysLoudlyThatNothingWasMeasured) {
  EXPECT_EQ(run(nightly(), {{"FAKE_SLICE", "error"}}), 3);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "NOTHING WAS MEASURED", output());
  EXPECT_EQ(nights().size(), 1u);
}

TEST_F(NightlyTest, RowsThatOnlyMeasureAccuracyAreMeasured) {
  EXPECT_EQ(run(nightly()), 0);
  EXPECT_EQ(run({"nightly", "--scale", "smoke", "--only", "accuracy-o0", "--accuracy", "--no-report"}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "rows: 1 OK", output());
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "NOTHING WAS MEASURED", output());
  EXPECT_EQ(run({"history", "trend"}), 0) << "of the night before, which it can't be compared with";
}

TEST_F(NightlyTest, ARegressionIsReportedOnceAndOnlyThatNightFails) {
  make_history(30, 1.5, 1);
  EXPECT_EQ(run(row_0(), {{"FAKE_TIMES", "1.5"}}), 4);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "REGRESSION: row 0 (smoke, cpu) since night made-28: 0.024 s -> 0.036 s", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "software", output());
  EXPECT_EQ(run(row_0(), {{"FAKE_TIMES", "1.5"}}), 0);
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "REGRESSION", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "reported in earlier nights: 1", output());
}

TEST_F(NightlyTest, ANightOfAnotherHostThatEndedBeforeHidesNoRegression) {
  make_history(30, 1.5, 1);
  Night other = nights().back();
  other.id = "other";
  other.host = "other-host";
  other.started_at = "2999-01-01T00:00:00Z";  // later than tonight
  std::ostringstream warnings;
  History(history_folder(), warnings).append(other);
  EXPECT_EQ(run(row_0(), {{"FAKE_TIMES", "1.5"}}), 4);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "REGRESSION: row 0 (smoke, cpu) since night made-28", output());
  const std::string tonight = nights().at(30).id;
  EXPECT_PRED_FORMAT2(testing::IsSubstring, tonight + ", tag ", content_of(history_folder() / "trend.html"));
}

TEST_F(NightlyTest, ARegressionIsNotReportedAgainWhenManyHostsShareTheHistory) {
  make_history(30, 1.5, 1);
  EXPECT_EQ(run(row_0(), {{"FAKE_TIMES", "1.5"}}), 4);
  for (int i = 0; i < 9; ++i)
    std::ofstream(history_folder() / (kNightsLock + std::to_string(i) + ".lock")) << "";
  EXPECT_EQ(run(row_0(), {{"FAKE_TIMES", "1.5"}}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "many hosts write to", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "reported in earlier nights: 1", output());
}

TEST_F(NightlyTest, WhatIsNoRegressionIsSaidAndFailsNothing) {
  struct Nights {
    int count;
    std::string rows_by, canaries_by;
    std::vector<std::string> said;
  };
  for (const auto& [count, rows_by, canaries_by, said] :
       {Nights{30, "1.5", "1.5", {"SLOWER: row 0", "the machine: canary gemm_ms"}},
        Nights{30, "0.5", "1", {"faster: row 0"}},
        Nights{12, "1.5", "1", {"searched from 20 nights on, 7 more"}}}) {
    fs::remove_all(history_folder());
    make_history(count, std::stod(rows_by), std::stod(canaries_by));
    EXPECT_EQ(run(row_0(), {{"FAKE_TIMES", rows_by}, {"FAKE_CANARIES", canaries_by}}), 0) << said[0];
    for (const std::string& words : said) EXPECT_PRED_FORMAT2(testing::IsSubstring, words, output());
  }
}

TEST_F(NightlyTest, ASecondOneOnTheSameHostIsTurnedAway) {
  const pid_t first = start_endless_night({"--no-report"});
  EXPECT_EQ(run(nightly()), 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "another nightly is running", errors());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "pid " + std::to_string(first), errors());
  kill(first, SIGKILL);
  exit_code_of(first);
  EXPECT_EQ(run_after_kill(nightly()), 0) << "the lock ends with its holder";
}

TEST_F(NightlyTest, WhatAKilledNightHadFinishedJoinsTheHistory) {
  const pid_t first =
      start_endless_night({"--no-report", "--tag", "killed", "--out", (results() / "runs" / "x").string()});
  kill(first, SIGKILL);
  exit_code_of(first);
  EXPECT_TRUE(nights().empty());
  ASSERT_EQ(run_after_kill(nightly()), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "was cut short: its 1 records", output());
  const auto all = nights();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].tag, "killed");
  EXPECT_FALSE(all[0].complete);
  ASSERT_EQ(all[0].rows.size(), 1u);
  EXPECT_EQ(all[0].rows[0].row, "0");
  EXPECT_FALSE(all[0].canaries.empty()) << "those before the rows";
  ASSERT_EQ(run(nightly()), 0);
  EXPECT_EQ(nights().size(), 3u) << "and joins it once";
}

TEST_F(NightlyTest, AnInterruptedNightKeepsWhatHasEnded) {
  const pid_t pid = start_endless_night({"--no-report"});
  kill(pid, SIGTERM);
  EXPECT_EQ(exit_code_of(pid), 130);
  ASSERT_EQ(nights().size(), 1u);
  EXPECT_FALSE(nights()[0].complete);
}

TEST_F(NightlyTest, AContainersNightHasTheNameThatItWasGiven) {
  ASSERT_EQ(run(nightly(), {{"RUN_MATRIX_HOST", "node-7"}}), 0);
  EXPECT_EQ(nights().at(0).host, "node-7");
}

TEST_F(NightlyTest, NotesOfNightsThatCannotBeReadNowStay) {
  OpenNight away{"20260101T030000-away", "", base::host_name(), directory / "not mounted" / "runs" / "x", {}};
  write_open_night(history_folder(), away);
  const fs::path open = history_folder() / "open";
  const std::string own = "20260101T030000-" + base::host_name();
  for (const std::string& id : {own, own + "-2", std::string("20260101T030000-another-host")})
    std::ofstream(open / (id + ".json")) << "";
  EXPECT_EQ(run(nightly()), 0);
  EXPECT_TRUE(says("the next night tries again")) << output();
  EXPECT_TRUE(fs::exists(open / "20260101T030000-away.json"));
  EXPECT_TRUE(fs::exists(open / "20260101T030000-another-host.json")) << "it may be writing its note";
  EXPECT_FALSE(fs::exists(open / (own + ".json")) || fs::exists(open / (own + "-2.json")));
  fs::create_directories(fs::path(away.run).parent_path());
  EXPECT_EQ(run(nightly()), 0);
  EXPECT_FALSE(fs::exists(open / "20260101T030000-away.json")) << "its folder is gone";
}

TEST_F(NightlyTest, ANightThatCouldNotBeWrittenIsAddedByTheNext) {
  // Not a full disk, which a test can't have without root: a file where the day's folder belongs.
  const fs::path day = history_folder() / ("night=" + base::day_before_now(0));
  fs::create_directories(history_folder());
  std::ofstream(day) << "in the way";
  EXPECT_EQ(run(nightly({"--no-report", "--tag", "full"})), 1);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, day.string(), errors());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "and the next nightly adds them", errors());
  fs::remove(day);
  EXPECT_EQ(run(nightly()), 0);
  ASSERT_EQ(nights().size(), 2u);
  EXPECT_EQ(nights()[0].tag, "full");
  EXPECT_TRUE(nights()[0].complete) << "all its rows had ended";
  EXPECT_EQ(nights()[0].rows.size(), 2u);
}

TEST_F(NightlyTest, ANightWhosePageCannotBeWrittenIsNoSuccess) {
  fs::create_directories(history_folder() / "trend.html" / "in the way");
  EXPECT_EQ(run(nightly()), 1);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "trend.html", errors());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "`history trend` for nights", errors());
  ASSERT_EQ(nights().size(), 1u);
  fs::remove_all(history_folder() / "trend.html");
  EXPECT_EQ(run(nightly()), 0);
}

TEST_F(NightlyTest, DamagedLinesAreNamedAndCostThemselvesAlone) {
  ASSERT_EQ(run(nightly()), 0);
  std::ofstream(history_folder() / "nights.jsonl", std::ios::app) << "no night\n";
  std::ofstream(history_folder() / "alarms.jsonl", std::ios::app) << "no alarm\n";
  std::ofstream(history_folder() / "open" / "x.json") << "{\"id\": ";
  EXPECT_EQ(run(nightly()), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "nights.jsonl:1: not JSON", errors());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "alarms.jsonl:1: not JSON", errors());
  EXPECT_EQ(nights().size(), 2u);
}

TEST_F(NightlyTest, AFolderThatCannotBeWrittenEndsItBeforeAnythingRuns) {
  std::ofstream(directory / "file") << "";
  EXPECT_EQ(run(nightly({"--history", (directory / "file" / "history").string()})), 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "choose a writable folder with --history", errors());
  EXPECT_FALSE(fs::exists(results() / "runs"));
}

TEST_F(NightlyTest, BadRowsAreBadInputAndNoNight) {
  EXPECT_EQ(run({"nightly", "--scale", "smoke", "--only", "nothing"}), 2);
  EXPECT_TRUE(nights().empty());
}

TEST_F(NightlyTest, GoesOnWithoutCanaries) {
  EXPECT_EQ(run(nightly(), {{"FAKE_CANARIES", "0"}}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "warning: ", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "a slower machine can't be distinguished from slower software",
                      output());
  EXPECT_TRUE(nights().at(0).canaries.empty());
}

TEST(NightlyCanaries, AreTheMiddleOfBothRoundsAndADriftIsNamed) {
  const Canaries before = {{"a", 1.0}, {"b", 2.0}}, after = {{"a", 1.08}, {"c", 3.0}};
  EXPECT_EQ(canaries_of_night(before, after), (Canaries{{"a", 1.04}, {"b", 2.0}, {"c", 3.0}}));
  EXPECT_EQ(moved_canaries(before, after), "");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "canary a: 1.000 ms before the rows, 1.200 ms after them (+20 %)",
                      moved_canaries({{"a", 1.0}}, {{"a", 1.2}}));
}

TEST(AnnouncedAlarmsTest, AChangeThatMovedByAFewNightsIsStillTheSame) {
  const TemporaryFolder folder;
  const fs::path file = folder / "alarms.jsonl";
  std::ostringstream warnings;
  Trend trend;
  trend.row = "7";
  for (int i = 0; i < 30; ++i) trend.nights.push_back(std::to_string(i));
  const auto alarm = [&](size_t index, double after) {
    return Alarm{trend.key(), "7", "", trend.nights[index], index, 1.0, after, ""};
  };
  AnnouncedAlarms({file}, warnings).add({alarm(20, 1.1)}, "25");
  const AnnouncedAlarms announced({file}, warnings);
  EXPECT_TRUE(announced.news({alarm(20, 1.1), alarm(17, 1.2), alarm(23, 1.1)}, {trend}).empty());
  EXPECT_EQ(announced.news({alarm(24, 1.1), alarm(16, 1.1), alarm(20, 0.9)}, {trend}).size(), 3u);
  Trend other = trend;
  other.row = "8";
  Alarm of_other = alarm(20, 1.1);
  of_other.key = other.key();
  EXPECT_EQ(announced.news({of_other}, {trend, other}).size(), 1u);
  EXPECT_TRUE(
      AnnouncedAlarms({folder / "of-a-host.jsonl", file}, warnings).news({alarm(20, 1.1)}, {trend}).empty());
  EXPECT_EQ(warnings.str(), "");
}

}  // namespace harness::nightly_test
