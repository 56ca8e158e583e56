// unit: `ab --until`: looking at growing data is wrong in at most 5 % of the experiments without a
// difference.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/compare/comparison.h"
#include "harness/stats/effect.h"
#include "tests/support/typed_records.h"

namespace harness::alpha_spending_test {

TEST(Looks, LevelsOfAllLooksSumToFivePercent) {
  double sum = 0;
  for (size_t pairs = kFirstLook; pairs < 100000; ++pairs)
    if (is_look(pairs)) sum += level_after(pairs);
  EXPECT_LT(sum, 0.05);
  EXPECT_GT(sum, 0.045);
  EXPECT_TRUE(is_look(7) && is_look(10) && is_look(14) && is_look(20));
  EXPECT_FALSE(is_look(6) || is_look(8) || is_look(13));
  EXPECT_DOUBLE_EQ(level_after(8), level_after(10)) << "that of the next look, which doesn't take place";
}

// The exact test must be able to reach the level: otherwise the interval would be too narrow for it.
TEST(Looks, EveryNumberOfPairsReachesItsLevel) {
  for (size_t pairs = kFirstLook; pairs < 200; ++pairs)
    EXPECT_LE(2 * std::pow(0.5, double(pairs)), level_after(pairs)) << pairs;
}

struct Stop {
  bool decided = false, slower = false;
  size_t pairs = 0;
};

// Runs with a coefficient of variation of 5 % on both sides, looked at as `ab --until` does.
Stop experiment(std::mt19937& random, double slow_down, size_t most) {
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<double> a, b;
  for (size_t pairs = 1; pairs <= most; ++pairs) {
    a.push_back(std::exp(noise(random)));
    b.push_back(slow_down * std::exp(noise(random)));
    if (!is_look(pairs)) continue;
    const Effect effect = paired_effect(a, b, level_after(pairs));
    const bool sure = (effect.low > 1 || effect.high < 1) && effect.p < effect.level;
    if (sure) return {true, effect.ratio < 1, pairs};
  }
  return {};
}

TEST(Looks, FalseVerdictsWithoutADifference) {
  std::mt19937 random(1);
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) wrong += experiment(random, 1, 40).decided;
  EXPECT_LE(wrong, 50 + 14) << "5 % and two standard errors";
}

TEST(Looks, FindASlowDownOfTenPercent) {
  std::mt19937 random(2);
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    const Stop stop = experiment(random, 1.1, 20);
    found += stop.decided && stop.slower;
  }
  EXPECT_GE(found, 190);
}

Records side(const std::string& name, const std::vector<double>& seconds, bool until) {
  Records records;
  for (size_t i = 0; i < seconds.size(); ++i) {
    records.push_back(
        typed(nlohmann::json{{"row", "0"}, {"repeat", i}, {"total_s", seconds[i]}, {"timed_batches", 1}}));
    records.back().pair = RecordPair{"x", name, int64_t(i), true, until};
  }
  return records;
}

TEST(Looks, RecordsOfUntilAreComparedAtTheLevelOfTheirLook) {
  const std::vector<double> a = {1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07},
                            b = {0.9, 0.92, 0.94, 0.9, 0.95, 0.91, 0.93, 0.92};
  const auto of = [&](bool until, size_t pairs) {
    const std::vector<double> first(a.begin(), a.begin() + ptrdiff_t(pairs)),
        second(b.begin(), b.begin() + ptrdiff_t(pairs));
    return compare(side("A", first, until), side("B", second, until), {}).rows.at(0);
  };
  EXPECT_EQ(of(false, 6).verdict, RowVerdict::faster);
  EXPECT_EQ(of(true, 6).verdict, RowVerdict::undecided) << "too few pairs for the first look";
  EXPECT_EQ(of(true, 8).verdict, RowVerdict::faster);
  EXPECT_DOUBLE_EQ(of(true, 8).effect.level, level_after(8));
  EXPECT_GT(of(true, 8).effect.high / of(true, 8).effect.low,
            of(false, 8).effect.high / of(false, 8).effect.low);
}

// Row 0 was decided after seven pairs and gets no more; row 1 goes on, and its p rises.
TEST(Looks, ADecidedRowKeepsItsVerdictWhateverTheOthersDo) {
  const std::vector<double> b0 = {0.9, 0.92, 0.94, 0.9, 0.95, 0.91, 0.93};
  const auto verdict_of_0 = [&](const std::vector<double>& b1) {
    Records a = side("A", std::vector<double>(b0.size(), 1.0), true), b = side("B", b0, true);
    for (auto& [records, name, seconds] :
         {std::tuple(&a, "A", std::vector<double>(b1.size(), 1.0)), std::tuple(&b, "B", b1)})
      for (Record& record : side(name, seconds, true)) {
        record.row = "1";
        records->push_back(record);
      }
    return compare(a, b, {}).rows.at(0).verdict;
  };
  EXPECT_EQ(verdict_of_0({0.9, 0.91, 0.92, 0.9, 0.93, 0.92, 0.91}), RowVerdict::faster);
  EXPECT_EQ(verdict_of_0({0.9, 1.3, 0.8, 1.1, 0.7, 1.2, 1.0, 0.9, 1.1, 1.0}), RowVerdict::faster);
}

}  // namespace harness::alpha_spending_test
