// unit: effects of a change: estimates and p-values against R's, intervals against simulation.
#include "harness/stats/effect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace harness::effect_test {

TEST(Effect, OfPairsIsTheRatioOfTimes) {
  const Effect it = paired_effect({2, 4, 6, 8, 10, 12}, {1, 2, 3, 4, 5, 6});
  EXPECT_DOUBLE_EQ(it.ratio, 2) << "B takes half the time";
  EXPECT_NEAR(it.low, 2, 1e-12);
  EXPECT_NEAR(it.high, 2, 1e-12);
  EXPECT_NEAR(it.rank_p, 0.03125, 1e-12) << "2 / 2^6";
}

// The p-value is that of scipy.stats.ttest_1samp.
TEST(Effect, SignedRankOfNinePairs) {
  std::vector<double> a, b;
  const double differences[] = {0.03, -0.01, 0.02, 0.05, 0.04, -0.02, 0.06, 0.015, 0.035};
  for (double difference : differences) {
    a.push_back(std::exp(difference));
    b.push_back(1);
  }
  const Effect it = paired_effect(a, b);
  // Walsh averages by hand: 45 of them, the interval from the 6th smallest to the 6th largest (P(W <= 5) =
  // 0.0195).
  EXPECT_EQ(it.paired, true);
  EXPECT_NEAR(std::log(it.ratio), 0.025, 1e-9);
  EXPECT_NEAR(std::log(it.low), 0.0025, 1e-9);
  EXPECT_NEAR(std::log(it.high), 0.045, 1e-9);
  EXPECT_NEAR(it.p, 0.0240, 5e-4);
}

TEST(Effect, StudentsTIsThatOfTables) {
  EXPECT_NEAR(student_p(2.306004, 8), 0.05, 1e-6);
  EXPECT_NEAR(student_p(12.7062, 1), 0.05, 1e-5);
  EXPECT_NEAR(student_p(-1.983972, 100), 0.05, 1e-6);
  EXPECT_NEAR(student_p(0, 5), 1, 1e-12);
  EXPECT_LT(student_p(30, 8), 1e-8);
}

TEST(Effect, AMeanReachesAsFarAsStudentsTSays) {
  EXPECT_NEAR((Mean{10, 2, 7}.reach()), 2 * 2.3646, 1e-3);
  EXPECT_NEAR((Mean{10, 2, 1}.reach()), 2 * 12.7062, 1e-3);
  EXPECT_EQ((Mean{10, 0, 7}.reach()), 0);
  EXPECT_TRUE(std::isinf(Mean{10, 2, 0}.reach()));
}

TEST(Effect, MannWhitneyOfFiveAndFive) {
  const Effect apart = unpaired_effect({11, 12, 13, 14, 15}, {1, 2, 3, 4, 5});
  EXPECT_NEAR(apart.rank_p, 2.0 / 252, 1e-12);
  const Effect mixed = unpaired_effect({1, 4, 5, 8, 9}, {2, 3, 6, 7, 10});
  EXPECT_GT(mixed.rank_p, 0.5);
  EXPECT_LT(mixed.low, 1);
  EXPECT_GT(mixed.high, 1);
}

TEST(Effect, LocationOfOneSample) {
  // Of 9 figures the interval leaves out the five smallest and largest of 45 Walsh averages, P(W <= 5) =
  // 0.0195.
  const Location it = location_of({0.03, -0.01, 0.02, 0.05, 0.04, -0.02, 0.06, 0.015, 0.035});
  EXPECT_NEAR(it.value, 0.025, 1e-12);
  EXPECT_NEAR(it.low, 0.0025, 1e-12);
  EXPECT_NEAR(it.high, 0.045, 1e-12);
  const Location few = location_of({0.2, 0.4, 0.1});
  EXPECT_DOUBLE_EQ(few.low, 0.1) << "too few for an interval: the range";
  EXPECT_DOUBLE_EQ(few.high, 0.4);
  EXPECT_EQ(few.runs, 3u);
  EXPECT_THROW(location_of({}), std::invalid_argument);
  EXPECT_THROW(location_of({0.1, NAN}), std::invalid_argument);
}

TEST(Effect, HolmKeepsTheOrderGivenAndNeverFalls) {
  std::vector<double> adjusted = {0.01, 0.04, 0.03, 0.005};
  holm({&adjusted[0], &adjusted[1], &adjusted[2], &adjusted[3]});
  EXPECT_NEAR(adjusted[3], 0.02, 1e-12);
  EXPECT_NEAR(adjusted[0], 0.03, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-12) << "at least that of the smaller p-values";
}

TEST(Effect, RefusesWhatIsNoFigure) {
  EXPECT_THROW(paired_effect({1, 2}, {1}), std::invalid_argument);
  EXPECT_THROW(paired_effect({}, {}), std::invalid_argument);
  EXPECT_THROW(paired_effect({1, 0}, {1, 1}), std::invalid_argument);
  EXPECT_THROW(unpaired_effect({1, NAN}, {1, 1}), std::invalid_argument);
  EXPECT_THROW(unpaired_effect({}, {1}), std::invalid_argument);
}

TEST(Effect, OneRunEachHasNoInterval) {
  const Effect it = unpaired_effect({2}, {1});
  EXPECT_DOUBLE_EQ(it.ratio, 2);
  EXPECT_EQ(it.p, 1);
  EXPECT_LT(it.coverage, 0.5);
}

// With no difference the interval must miss 1 in about 5 % of the experiments, heavy tails included.
template <typename Experiment>
double share_of_misses(Experiment experiment) {
  constexpr int kExperiments = 2000;
  std::mt19937_64 random(7);
  std::student_t_distribution<double> noise(3);
  int misses = 0;
  for (int i = 0; i < kExperiments; ++i) {
    const auto runs = [&] {
      std::vector<double> values(9);
      for (double& value : values) value = std::exp(0.02 * noise(random));
      return values;
    };
    const Effect it = experiment(runs(), runs());
    misses += it.low > 1 || it.high < 1;
  }
  return double(misses) / kExperiments;
}

TEST(Effect, IntervalsCoverAsTheySay) {
  const auto paired = [](const auto& a, const auto& b) { return paired_effect(a, b); };
  EXPECT_LT(share_of_misses(paired), 0.055);
  EXPECT_GT(share_of_misses(paired), 0.02) << "not wider than needed";
  EXPECT_LT(share_of_misses(unpaired_effect), 0.055);
  EXPECT_GT(share_of_misses(unpaired_effect), 0.02);
}

}  // namespace harness::effect_test
