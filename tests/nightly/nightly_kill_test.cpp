// slow: nightly under kill -9 at random moments: no finished record is lost, the history stays readable, the
// next night runs. KILLS in the environment says how often (12).
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <thread>

#include "harness/stats/records.h"
#include "tests/support/nightly_run.h"

namespace harness::nightly_kill_test {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class NightlyKillTest : public NightlyRun {
 protected:
  // Finished records by run: what no kill may take away.
  std::map<std::string, size_t> finished_records() const {
    std::map<std::string, size_t> finished;
    std::ostringstream warnings;
    std::error_code none;
    for (const auto& run : fs::directory_iterator(results() / "runs", none))
      if (fs::exists(run.path() / "records.jsonl"))
        if (const size_t records = read_records(run.path(), warnings).size(); records > 0)
          finished[run.path()] = records;
    return finished;
  }
  std::map<std::string, size_t> records_of_nights() const {
    std::map<std::string, size_t> kept;
    for (const Night& night : nights())
      if (!night.run.empty())
        for (const NightRow& row : night.rows) kept[night.run] += size_t(row.repeats);
    return kept;
  }
  // Nights before, so that the ones to be killed look for changes too. They have no records.
  void make_history() {
    ASSERT_EQ(run(nightly()), 0);
    std::vector<Night> made(25, nights().at(0));
    for (size_t i = 0; i < made.size(); ++i) {
      made[i].id = "made-" + std::to_string(i);
      made[i].run = "";
      for (NightRow& row : made[i].rows)
        for (double& total : row.totals_s) total *= 1 + 0.004 * std::sin(7.0 * double(i));
    }
    std::ostringstream warnings;
    History(history_folder(), warnings).append_new(made);
  }
  void expect_readable_history() const {
    std::ostringstream warnings;
    const History history(history_folder(), warnings);
    EXPECT_EQ(warnings.str(), "");
    std::set<std::string> ids;
    for (const Night& night : history.nights())
      EXPECT_TRUE(ids.insert(night.id).second) << night.id << " is there twice";
  }
};

TEST_F(NightlyKillTest, AKillAtAnyMomentLosesNothingThatHadFinished) {
  const char* asked = std::getenv("KILLS");
  const int kills = asked ? std::atoi(asked) : 12;
  ASSERT_NO_FATAL_FAILURE(make_history());
  const Clock::time_point begin = Clock::now();
  ASSERT_EQ(run(nightly()), 0);
  const std::chrono::duration<double, std::milli> whole = Clock::now() - begin;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> moment(0, whole.count());
  int killed = 0, with_records = 0;
  for (int i = 0; i < kills; ++i) {
    const auto before = finished_records().size();
    const pid_t pid = start(nightly());
    const double ms = moment(random);
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
    kill(pid, SIGKILL);
    const int code = exit_code_of(pid);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(100));  // what it was just starting holds its lock until it ends
    killed += code == 128 + SIGKILL;
    with_records += finished_records().size() > before;
    ASSERT_TRUE(code == 128 + SIGKILL || code == 0) << code << " after " << ms << " ms, seed " << seed;
    ASSERT_NO_FATAL_FAILURE(expect_readable_history()) << "killed after " << ms << " ms, seed " << seed;
  }
  ASSERT_EQ(run_after_kill(nightly()), 0) << "the next night runs; seed " << seed;
  expect_readable_history();
  EXPECT_EQ(records_of_nights(), finished_records()) << "seed " << seed;
  EXPECT_TRUE(fs::is_empty(history_folder() / "open"));
  std::cout << kills << " kills at random moments of " << whole.count() << " ms: " << killed
            << " before the night's end, " << with_records << " after its first record\n";
}

}  // namespace harness::nightly_kill_test
