// unit: trends of a history: series that are never joined, change points by Otava, alarms and their cause.
#include "harness/nightly/trend.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "harness/nightly/analysis.h"

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

std::vector<Trend> analysed(const std::vector<Night>& nights) {
  std::vector<Trend> trends = trends_of(nights, {});
  std::vector<Series> series;
  for (const Trend& trend : trends) series.push_back({trend.row, trend.values, trend.margin});
  const auto found = find_change_points(series, SOURCE_DIR);
  for (size_t i = 0; i < trends.size(); ++i) trends[i].changes = found[i];
  return trends;
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
  const auto alarms = [](const Given& given) {
    const auto nights = nights_of(given);
    return lasting_changes(analysed(nights), nights.back(), Direction::slower);
  };
  EXPECT_TRUE(alarms({}).empty());
  ASSERT_EQ(alarms({.nights = 33, .slower_from = 30}).size(), 1u);
  EXPECT_EQ(alarms({.nights = 33, .slower_from = 30})[0].since, "Zen-30");
  EXPECT_TRUE(alarms({.nights = 32, .slower_from = 30}).empty()) << "two nights";
  EXPECT_TRUE(alarms({.nights = 19, .slower_from = 12}).empty()) << "too short a series";
  EXPECT_TRUE(alarms({.slower_from = 30, .by = 0.9}).empty()) << "faster is no alarm";
  EXPECT_TRUE(alarms({.slower_from = 30, .by = 1.01}).empty()) << "under the margin";
}

TEST_F(TrendTest, OneOddNightAtTheBeginningIsNoLevel) {
  const auto nights = nights_of({.nights = 30, .slower_from = 1});
  EXPECT_TRUE(lasting_changes(analysed(nights), nights.back(), Direction::slower).empty());
}

TEST_F(TrendTest, AnAlarmEndsWhenTheRowIsAsFastAsBefore) {
  auto nights = nights_of({.nights = 40, .slower_from = 20});
  for (size_t i = 30; i < nights.size(); ++i) nights[i].rows[0].totals_s[0] /= 1.10;
  EXPECT_TRUE(lasting_changes(analysed(nights), nights.back(), Direction::slower).empty());
  for (size_t i = 30; i < nights.size(); ++i) nights[i].rows[0].totals_s[0] *= 1.05;
  EXPECT_EQ(lasting_changes(analysed(nights), nights.back(), Direction::slower).size(), 1u)
      << "half of it stayed";
}

TEST_F(TrendTest, AnOldChangeIsHistory) {
  const auto nights = nights_of({.nights = 90, .slower_from = 50});
  EXPECT_EQ(analysed(nights)[0].changes.size(), 1u);
  EXPECT_TRUE(lasting_changes(analysed(nights), nights.back(), Direction::slower).empty());
}

TEST_F(TrendTest, AMachineThatSlowedDownIsNamedAsTheCause) {
  const auto nights = nights_of({.slower_from = 30, .canary_slower_from = 31});
  const auto alarms = lasting_changes(analysed(nights), nights.back(), Direction::slower);
  ASSERT_EQ(alarms.size(), 1u);
  EXPECT_EQ(alarms[0].canary, "gemm_ms");
  const auto earlier = nights_of({.slower_from = 30, .canary_slower_from = 15});
  EXPECT_EQ(lasting_changes(analysed(earlier), earlier.back(), Direction::slower)[0].canary, "")
      << "another night, another cause";
}

TEST_F(TrendTest, ARowThatFailedLastNightKeepsItsMarksAndDoesNotAlarm) {
  auto nights = nights_of({.slower_from = 30});
  nights.back().rows[0].totals_s.clear();
  nights.back().rows[0].status = "CRASHED";
  std::ostringstream warnings;
  const Analysis analysis = analyse(nights, nights.back(), "/nowhere", SOURCE_DIR, warnings);
  ASSERT_EQ(analysis.trends[0].changes.size(), 1u);
  EXPECT_TRUE(analysis.alarms.empty());
  EXPECT_EQ(analysis.rows, 0u) << "of the last night with a figure";
}

TEST(Trend, MachinesAndSettingsAreSeriesOfTheirOwn) {
  auto nights = nights_of({.nights = 5});
  for (const Night& night : nights_of({.nights = 4, .machine = "Other"})) nights.push_back(night);
  for (const Night& night : nights_of({.nights = 3, .config = "def"})) nights.push_back(night);
  const auto trends = trends_of(nights, {{{"Zen", "7"}, 0.05}});
  std::vector<size_t> lengths;
  for (const Trend& trend : trends) lengths.push_back(trend.values.size());
  EXPECT_EQ(lengths, (std::vector<size_t>{5, 8, 4, 4, 3})) << "the canary goes on under another setting";
  EXPECT_EQ(trends[0].margin, 0.05);
  EXPECT_EQ(trends[2].margin, 0.02);
}

TEST(Trend, FailedRowsAreNoPoints) {
  auto nights = nights_of({.nights = 3});
  nights[1].rows[0].totals_s.clear();
  nights[1].rows[0].status = "HUNG";
  EXPECT_EQ(trends_of(nights, {})[0].nights, (std::vector<std::string>{"Zen-0", "Zen-2"}));
}

TEST(Trend, WithoutOtavaThereIsAnErrorWithTheNextStep) {
  try {
    find_change_points({}, "/nowhere");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("--no-install"), std::string::npos) << error.what();
  }
}

}  // namespace harness::trend_test
