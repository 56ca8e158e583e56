// unit: the command history from outside: list, show, compare, export, import, and what they do with bad
// input.
#include <cmath>

#include "harness/nightly/history_report.h"
#include "harness/stats/records.h"
#include "tests/support/nightly_run.h"

namespace harness::history_command_test {

namespace fs = std::filesystem;

constexpr const char* kEnvironment =
    "Zen, 8 cores; Linux 6.1; Debian 12; ; 2.11.0; abc123; GNU 12; -O3; Release; ; f00d";

Night night(int day, double by = 1, const std::string& environment = kEnvironment) {
  Night it;
  it.id = "n" + std::to_string(day);
  it.started_at = "2026-01-0" + std::to_string(day) + "T03:00:00Z";
  it.tag = day == 2 ? "driver 555" : "main";
  it.machine = environment.substr(0, environment.find("; "));
  it.environment = environment;
  it.host = "a";
  it.revision = "abc123";
  it.canaries = {{"gemm_ms", 1.5}};
  NightRow row{"7", "rehearsal", "cpu", "OK", "c0ffee", {}, {{"load", 3.0}, {"forward", 5 * by}}, 9};
  for (int i = 0; i < 9; ++i) row.totals_s.push_back(8 * by * (1 + 0.002 * std::sin(7.0 * i + day)));
  it.rows = {row, {"8", "rehearsal", "cpu", "HUNG", "def", {}, {}, 9}};
  return it;
}

class HistoryCommandTest : public NightlyRun {
 protected:
  void keep(const std::vector<Night>& nights) {
    std::ostringstream warnings;
    History(history_folder(), warnings).append_new(nights);
  }
  int history(Words words) {
    words.insert(words.begin(), "history");
    return run(words);
  }
};

TEST_F(HistoryCommandTest, ListsNightsAndARangeOfThem) {
  keep({night(1), night(2), night(3)});
  ASSERT_EQ(history({"list"}), 0);
  for (const char* words : {"3 nights", "n1", "2026-01-02T03:00:00Z", "driver 555", "1 of 2", "Zen, 8 cores"})
    EXPECT_PRED_FORMAT2(testing::IsSubstring, words, output());
  ASSERT_EQ(history({"list", "--since", "2026-01-02:2026-01-02", "--json"}), 0);
  const auto listed = nlohmann::json::parse(output());
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["id"], "n2");
  EXPECT_EQ(listed[0]["ok"], 1);
}

TEST_F(HistoryCommandTest, ShowsOneNight) {
  keep({night(1), night(2)});
  ASSERT_EQ(history({"show", "driver 555"}), 0);
  for (const char* words : {"night n2", "7", "forward 5.00, load 3.00", "9 of 9", "HUNG", "gemm_ms 1.500"})
    EXPECT_PRED_FORMAT2(testing::IsSubstring, words, output());
  ASSERT_EQ(history({"show", "last", "--json"}), 0);
  EXPECT_EQ(nlohmann::json::parse(output()), encode(night(2)));
}

TEST_F(HistoryCommandTest, ComparesNightsFromWhatTheHistoryKeeps) {
  keep({night(1), night(2, 1.2), night(3)});
  EXPECT_EQ(history({"compare", "n1", "n2"}), 4);
  for (const char* words :
       {"SLOWER", "forward +12.5", "From the history's own data", "A has no figure: HUNG"})
    EXPECT_PRED_FORMAT2(testing::IsSubstring, words, output());
  EXPECT_EQ(history({"compare", "last-2", "2026-01-03", "--json"}), 0);
  EXPECT_EQ(nlohmann::json::parse(output())["rows"][0]["verdict"], "SAME");
}

// The second night's row took 20 % longer, all of it because others took the processor.
TEST_F(HistoryCommandTest, WhatOthersTookIsNoRegression) {
  Night busy = night(2, 1.2);
  busy.rows[0].undisturbed_s = night(3).rows[0].totals_s;
  keep({night(1), busy});
  EXPECT_EQ(history({"compare", "n1", "n2"}), 0) << output();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "without what others took", output());
}

TEST_F(HistoryCommandTest, NamesWhatDiffersAroundTwoNights) {
  Night other =
      night(2, 1, "Zen, 8 cores; Linux 6.9; Debian 12; ; 2.11.0; abc123; GNU 12; -O3; Release; ; f00d");
  Night elsewhere = night(3, 1.3, "M2, 4 cores; ; ; ; ; ; ; ; ; ; f00d");
  Night otherwise = night(4, 2);
  otherwise.rows[0].config = "beef";
  keep({night(1), other, elsewhere, otherwise});
  EXPECT_EQ(history({"compare", "n1", "n2"}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "kernel: Linux 6.1 -> Linux 6.9", output());
  EXPECT_EQ(history({"compare", "n1", "n3"}), 0) << "another machine is no regression of software";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "machine: Zen, 8 cores -> M2, 4 cores", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "Different machines", output());
  EXPECT_EQ(history({"compare", "n1", "n4"}), 3);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "settings, by their hash: c0ffee and beef", output());
}

TEST_F(HistoryCommandTest, ComparesFullRecordsWhileTheyAreThere) {
  ASSERT_EQ(run(nightly({"--no-report", "--repeat", "5"})), 0);
  ASSERT_EQ(run(nightly({"--no-report", "--repeat", "5"}), {{"FAKE_TIMES", "2"}}), 0);
  EXPECT_EQ(history({"compare", "last-1", "last"}), 4);
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "From the history's own data", output());
  fs::remove_all(results() / "runs");
  EXPECT_EQ(history({"compare", "last-1", "last"}), 4);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "From the history's own data", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "backward +50.0", output());
}

// 30 nights on one machine; from night 25 on, p99_ms is 20 % higher and the throughput 10 % lower.
std::vector<Night> nights_with_metrics() {
  std::vector<Night> made(30, night(1));
  for (size_t i = 0; i < made.size(); ++i) {
    const double noise = 1 + 0.004 * std::sin(7.0 * double(i));
    made[i].id = "made-" + std::to_string(i);
    made[i].started_at = "2026-01-01T00:00:" + std::to_string(10 + i) + "Z";
    made[i].rows[0].metrics = {{"p99_ms", 50 * noise * (i < 25 ? 1 : 1.2)},
                               {"images_per_second", 400 * noise * (i < 25 ? 1 : 0.9)},
                               {"median_ms", 40 * noise * (i < 25 ? 1 : 0.8)}};
  }
  return made;
}

TEST_F(HistoryCommandTest, FollowsAMetric) {
  if (!fs::exists(SOURCE_DIR "/.venv/bin/python")) GTEST_SKIP() << "no .venv";
  keep(nights_with_metrics());
  EXPECT_EQ(history({"trend"}), 0) << "the seconds stayed";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no new lasting change of a row's speed", output());
  EXPECT_TRUE(fs::exists(history_folder() / "trend.html"));
  EXPECT_EQ(history({"trend", "--metric", "p99_ms"}), 4);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "REGRESSION: row 7 (rehearsal, cpu): p99_ms since night made-25: 50.", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, " ms, +20.", output());
  const std::string page = content_of(history_folder() / "trend-p99_ms.html");
  for (const char* words : {"Nights: p99_ms", "p99_ms in ms: 99th percentile of the steps", R"("WORSE")",
                            "row 7 changed by +20."})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  EXPECT_EQ(history({"trend", "--metric", "images_per_second"}), 4) << "less is worse";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "images/s, -9.", output());
  EXPECT_EQ(history({"trend", "--metric", "median_ms"}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "better: row 7 (rehearsal, cpu): median_ms since", output());
  EXPECT_FALSE(fs::exists(history_folder() / "alarms.jsonl")) << "the next nightly reports its alarms";
}

TEST_F(HistoryCommandTest, ATrendOfSomeNightsLeavesThePageOfAllAlone) {
  keep(nights_with_metrics());
  EXPECT_EQ(history({"trend", "--machine", "Zen"}), 0) << errors();
  EXPECT_FALSE(fs::exists(history_folder() / "trend.html"));
  EXPECT_NE(content_of(history_folder() / "trend-Zen.html").find("Nights of Zen"), std::string::npos)
      << output();
}

TEST_F(HistoryCommandTest, ALastNightWithoutTheMetricIsNamed) {
  std::vector<Night> nights = nights_with_metrics();
  nights.back().rows[0].metrics.clear();
  keep(nights);
  EXPECT_EQ(history({"trend", "--metric", "p99_ms"}), 3);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "no row of the last night, made-29, has p99_ms; the last one that has is made-28",
                      errors());
}

TEST_F(HistoryCommandTest, AMetricThatNoNightHasIsNamed) {
  keep({night(1)});
  EXPECT_EQ(history({"trend", "--metric", "p99_ms"}), 3);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "no night has p99_ms; `./run_matrix nightly` adds a night with it", errors());
  EXPECT_FALSE(fs::exists(history_folder() / "trend-p99_ms.html"));
  EXPECT_EQ(history({"trend", "--metric", "p99ms"}), 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "did you mean 'p99_ms'?", errors());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "a history follows total_s, ", errors());
}

TEST_F(HistoryCommandTest, LooksAtOneMachineOrTagAlone) {
  Night elsewhere = night(3);
  elsewhere.machine = "M2, 4 cores";
  elsewhere.host = "laptop";
  keep({night(1), night(2), elsewhere});
  ASSERT_EQ(history({"list", "--machine", "M2"}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "n3", output());
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "n1", output());
  ASSERT_EQ(history({"show", "last", "--machine", "Zen"}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "n2", output());
  ASSERT_EQ(history({"list", "--tag", "main", "--machine", "laptop"}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "n3", output());
  EXPECT_EQ(history({"show", "last", "--machine", "Sparc"}), 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no night of machine Sparc", errors());
}

TEST_F(HistoryCommandTest, ExportsAndImports) {
  keep({night(1), night(2), night(3)});
  const std::string file = directory / "nights";
  ASSERT_EQ(history({"export", file, "--since", "2026-01-02:"}), 0);
  const std::string other = directory / "other";
  ASSERT_EQ(history({"import", file, "--history", other}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "2 nights added, 0 there already", output());
  ASSERT_EQ(history({"import", file, "--history", other}), 0) << "nothing new is nothing bad";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "0 nights added, 2 there already", output());
  ASSERT_EQ(history({"export", "-", "--history", other}), 0);
  EXPECT_EQ(output(), content_of(file));
}

TEST_F(HistoryCommandTest, BadLinesOfAnImportAreNamedAndLeftOut) {
  const std::string file = directory / "nights";
  std::ofstream(file) << "no json\n" << encode(night(1)) << "\n{\"schema\": 1}\n{\"schema\": 9}\n";
  ASSERT_EQ(history({"import", file}), 0);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "1 night added, 0 there already, 3 lines left out", output());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, file + ":1: not JSON", errors());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, file + ":3: `id` is missing", errors());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, file + ":4: `schema`: expected 1", errors());
  std::ofstream(file) << "no json\n";
  EXPECT_EQ(history({"import", file}), 2);
  EXPECT_EQ(history({"import", directory.path().string()}), 2);
  EXPECT_EQ(history({"import", (directory / "missing").string()}), 2);
}

TEST_F(HistoryCommandTest, BadInputIsNamed) {
  EXPECT_EQ(history({"list"}), 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no history; `./run_matrix nightly` creates one", errors());
  keep({night(1)});
  for (const Words& words : {Words{"list", "--since", "yesterday"},
                             {"show", "n7"},
                             {"show"},
                             {"compare", "n1"},
                             {"compare", "n1", "last-4"},
                             {"export", (directory / "none" / "file").string()},
                             {"trend", "--metric", "rho_1"},
                             {"nothing"},
                             {}})
    EXPECT_EQ(history(words), 2) << (words.empty() ? "" : words[0]);
  EXPECT_EQ(history({"show", "n7"}), 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no night `n7`", errors());
}

TEST(NightRecords, KeepAValueThatHoldsWhatSeparatesValuesWhole) {
  const Night odd =
      night(1, 1, "Zen, 8 cores; Linux; odd; Debian 12; ; 2.11.0; abc123; GNU 12; -O3; Release; ; f00d");
  const auto records = thin_records(odd);
  EXPECT_EQ(records.at(0).machine.environment, odd.environment);
}

}  // namespace harness::history_command_test
