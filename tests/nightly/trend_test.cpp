// unit: trends of a history: series that are never joined, change points by Otava, alarms and their cause.
#include "harness/nightly/trend.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "harness/compare/noise.h"
#include "harness/nightly/analysis.h"
#include "harness/nightly/night_summary.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness::trend_test {

struct Given {
  int nights = 40, slower_from = 1000, canary_slower_from = 1000;
  double by = 1.10;
  std::string machine = "Zen", config = "abc";
};

double noise(int i) { return 1 + 0.005 * std::sin(7.0 * i); }

std::vector<Night> nights_of(const Given& given) {
  std::vector<Night> nights;
  for (int i = 0; i < given.nights; ++i) {
    Night night;
    night.id = fmt::format("{}-{}", given.machine, i);
    night.started_at = fmt::format("2026-01-01T{:05}", i);
    night.machine = given.machine;
    night.canaries = {{"gemm_ms", 3 * noise(3 * i) * (i >= given.canary_slower_from ? given.by : 1)}};
    night.rows = {{"7",
                   "rehearsal",
                   "cpu",
                   "OK",
                   given.config,
                   {10 * noise(i) * (i >= given.slower_from ? given.by : 1)},
                   {},
                   1}};
    nights.push_back(night);
  }
  return nights;
}

std::vector<Trend> analysed(const std::vector<Night>& nights, const Metric& metric = seconds()) {
  std::vector<Trend> trends = trends_of(nights, metric);
  std::vector<Trend*> all;
  for (Trend& trend : trends) all.push_back(&trend);
  find_changes(all, SOURCE_DIR);
  return trends;
}

std::vector<Alarm> alarms_of(const std::vector<Night>& nights, const Metric& metric = seconds(),
                             Direction direction = Direction::worse) {
  return lasting_changes(analysed(nights, metric), nights.back(), direction);
}

Analysis analysis_of(const std::vector<Night>& nights, const std::filesystem::path& noise = "/nowhere") {
  std::ostringstream warnings;
  return analyse(nights, nights.back(), noise, SOURCE_DIR, warnings);
}

class TrendTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string(SOURCE_DIR) + "/.venv/bin/python")) GTEST_SKIP() << "no .venv";
  }
};

TEST_F(TrendTest, AStepIsFoundWhereItIs) {
  const auto trends = analysed(nights_of({.slower_from = 30}));
  ASSERT_EQ(trends.size(), 2u);
  ASSERT_EQ(trends[0].changes.size(), 1u);
  EXPECT_EQ(trends[0].changes[0].index, 30u);
  EXPECT_NEAR(trends[0].changes[0].change(), 0.10, 0.01);
  EXPECT_TRUE(trends[1].changes.empty()) << "the canary stayed";
}

TEST_F(TrendTest, AlarmsNeedALongSeriesAndALastingChange) {
  const auto alarms = [](const Given& given) { return alarms_of(nights_of(given)); };
  EXPECT_TRUE(alarms({}).empty());
  ASSERT_EQ(alarms({.nights = 33, .slower_from = 30}).size(), 1u);
  EXPECT_EQ(alarms({.nights = 33, .slower_from = 30})[0].since, "Zen-30");
  EXPECT_TRUE(alarms({.nights = 32, .slower_from = 30}).empty()) << "two nights";
  EXPECT_TRUE(alarms({.nights = 19, .slower_from = 12}).empty()) << "too short a series";
  EXPECT_TRUE(alarms({.slower_from = 30, .by = 0.9}).empty()) << "faster is no alarm";
  EXPECT_TRUE(alarms({.slower_from = 30, .by = 1.01}).empty()) << "under the margin";
}

TEST_F(TrendTest, OneOddNightAtTheBeginningIsNoLevel) {
  EXPECT_TRUE(alarms_of(nights_of({.nights = 30, .slower_from = 1})).empty());
}

TEST_F(TrendTest, AnAlarmEndsWhenTheRowIsAsFastAsBefore) {
  auto nights = nights_of({.nights = 40, .slower_from = 20});
  for (size_t i = 30; i < nights.size(); ++i) nights[i].rows[0].totals_s[0] /= 1.10;
  EXPECT_TRUE(alarms_of(nights).empty());
  for (size_t i = 30; i < nights.size(); ++i) nights[i].rows[0].totals_s[0] *= 1.05;
  EXPECT_EQ(alarms_of(nights).size(), 1u) << "half of it stayed";
}

TEST_F(TrendTest, AnOldChangeIsHistory) {
  const auto nights = nights_of({.nights = 90, .slower_from = 50});
  EXPECT_EQ(analysed(nights)[0].changes.size(), 1u);
  EXPECT_TRUE(alarms_of(nights).empty());
}

TEST_F(TrendTest, AMachineThatSlowedDownIsNamedAsTheCause) {
  const auto nights = nights_of({.slower_from = 30, .canary_slower_from = 31});
  const auto alarms = alarms_of(nights);
  ASSERT_EQ(alarms.size(), 1u);
  EXPECT_EQ(alarms[0].canary, "gemm_ms");
  const auto earlier = nights_of({.slower_from = 30, .canary_slower_from = 15});
  EXPECT_EQ(alarms_of(earlier)[0].canary, "") << "another night, another cause";
}

TEST_F(TrendTest, CanariesThatFailedTonightStillNameTheMachine) {
  auto nights = nights_of({.slower_from = 30, .canary_slower_from = 30});
  nights.back().canaries.clear();
  const Analysis analysis = analysis_of(nights);
  ASSERT_EQ(analysis.alarms.size(), 1u);
  EXPECT_EQ(analysis.alarms[0].canary, "gemm_ms");
}

TEST_F(TrendTest, WithoutAnyCanaryTheSoftwareIsNotNamed) {
  auto nights = nights_of({.slower_from = 30});
  for (Night& night : nights) night.canaries.clear();
  const Analysis analysis = analysis_of(nights);
  const std::string text = changes_summary(analysis, analysis.alarms, {});
  EXPECT_NE(text.find("no canary was ever measured here"), std::string::npos) << text;
  EXPECT_EQ(text.find("software"), std::string::npos) << text;
}

TEST_F(TrendTest, ARowWithoutAFigureTonightIsNotAsFastAsBefore) {
  auto nights = nights_of({});
  RunResult result;
  const auto add = [&] {
    result.cases.clear();
    add_night(result, nights.back(), analysis_of(nights), {});
    return result.cases.at(0).result;
  };
  EXPECT_EQ(add(), TestCase::Result::passed);
  nights.back().rows[0].spoiled = 1;
  EXPECT_EQ(add(), TestCase::Result::skipped);
  EXPECT_EQ(result.cases[0].message, "this night has no figure to compare");
}

TEST_F(TrendTest, ARowThatFailedLastNightKeepsItsMarksAndDoesNotAlarm) {
  auto nights = nights_of({.slower_from = 30});
  nights.back().rows[0].totals_s.clear();
  nights.back().rows[0].status = "CRASHED";
  const Analysis analysis = analysis_of(nights);
  ASSERT_EQ(analysis.trends[0].changes.size(), 1u);
  EXPECT_TRUE(analysis.alarms.empty());
  EXPECT_TRUE(analysis.searched);
}

// Nights in which only the metric changes, in night 30; the first ten were written before nights had metrics.
std::vector<Night> nights_with(const std::string& metric, double by) {
  std::vector<Night> nights = nights_of({});
  for (int i = 10; i < int(nights.size()); ++i)
    nights[size_t(i)].rows[0].metrics[metric] = 20 * noise(i) * (i >= 30 ? by : 1);
  return nights;
}

TEST_F(TrendTest, AChangeOfAnotherMetricIsFoundInItsOwnSeries) {
  const auto nights = nights_with("p99_ms", 1.10);
  const auto trends = analysed(nights, followed_metric("p99_ms"));
  ASSERT_EQ(trends.size(), 2u);
  EXPECT_TRUE(trends[0].canary) << "the first night has no value of the row";
  const Trend& row = trends[1];
  ASSERT_EQ(row.changes.size(), 1u);
  EXPECT_EQ(row.nights[row.changes[0].index], "Zen-30");
  EXPECT_EQ(row.values.size(), 30u);
  EXPECT_EQ(row.text(22), "22 ms");
  ASSERT_EQ(lasting_changes(trends, nights.back(), Direction::worse).size(), 1u);
  EXPECT_TRUE(analysed(nights)[0].changes.empty()) << "the seconds stayed";
}

TEST_F(TrendTest, ALowerFigureIsWorseWhereHigherIsBetter) {
  const auto found = [](double by, Direction direction) {
    return alarms_of(nights_with("images_per_second", by), followed_metric("images_per_second"), direction)
        .size();
  };
  EXPECT_EQ(found(0.9, Direction::worse), 1u);
  EXPECT_EQ(found(0.9, Direction::better), 0u);
  EXPECT_EQ(found(1.1, Direction::worse), 0u);
  EXPECT_EQ(found(1.1, Direction::better), 1u);
}

TEST_F(TrendTest, AMachineThatSlowedDownExplainsALowerThroughput) {
  auto nights = nights_with("images_per_second", 0.9);
  for (size_t i = 31; i < nights.size(); ++i) nights[i].canaries["gemm_ms"] *= 1.1;
  const auto alarms = alarms_of(nights, followed_metric("images_per_second"));
  ASSERT_EQ(alarms.size(), 1u);
  EXPECT_EQ(alarms[0].canary, "gemm_ms");
}

TEST(FollowedMetric, UnknownOnesAreNamedWithTheKnownOnes) {
  const auto refusal = [](const std::string& name) -> std::string {
    try {
      followed_metric(name);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "metric `p99ms`: no such metric, did you mean 'p99_ms'?",
                      refusal("p99ms"));
  for (const char* known : {"total_s", "images_per_second", "exposed_ms"})
    EXPECT_PRED_FORMAT2(testing::IsSubstring, known, refusal("p99ms"));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "`rho_1`: a column of table.csv that isn't kept in a history",
                      refusal("rho_1"));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "``: no such metric; a history follows total_s", refusal(""));
  EXPECT_EQ(refusal("skew_ms"), "");
}

TEST(Trend, MachinesAndSettingsAreSeriesOfTheirOwn) {
  auto nights = nights_of({.nights = 5});
  for (const Night& night : nights_of({.nights = 4, .machine = "Other"})) nights.push_back(night);
  for (const Night& night : nights_of({.nights = 3, .config = "def"})) nights.push_back(night);
  const auto trends = trends_of(nights);
  std::vector<size_t> lengths;
  for (const Trend& trend : trends) lengths.push_back(trend.values.size());
  EXPECT_EQ(lengths, (std::vector<size_t>{5, 8, 4, 4, 3})) << "the canary goes on under another setting";
}

TEST(Trend, FailedRowsAreNoPoints) {
  auto nights = nights_of({.nights = 3});
  nights[1].rows[0].totals_s.clear();
  nights[1].rows[0].status = "HUNG";
  EXPECT_EQ(trends_of(nights)[0].nights, (std::vector<std::string>{"Zen-0", "Zen-2"}));
}

TEST(Trend, WithoutOtavaThereIsAnErrorWithTheNextStep) {
  EXPECT_SAYS(failure_of([] { find_changes({}, "/nowhere"); }), "--no-install");
}

TEST(Trend, TheMarginIsTheNoiseThatWasMeasured) {
  const TemporaryFolder folder;
  auto nights = nights_of({.nights = 5});
  append_noise(folder,
               {.machine = "Zen", .started_at = "", .scales = {{"rehearsal", {{"7", {0.05, 0.05}}}}}});
  EXPECT_NEAR(analysis_of(nights, folder.path()).trends[0].margin, 0.05, 0.01);
  nights.push_back(nights_of({.nights = 1, .machine = "Other"})[0]);
  EXPECT_EQ(analysis_of(nights, folder.path()).trends[0].margin, kSmallestMargin) << "of another machine";
}

}  // namespace harness::trend_test
