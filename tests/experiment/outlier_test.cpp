// unit: one against others: how often chance alone gives a small p, and the false discovery rate.
#include "harness/experiment/outlier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace harness::outlier_test {

Others independent(const std::vector<double>& logarithms) {
  return known_good(std::vector<std::vector<double>>{logarithms});
}

// How often one more of the same kind has p under 5 %.
double share_of_small_p(Others (*of)(const std::vector<double>&), size_t others, double members = 1) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(3, 0.02);
  constexpr int kTrials = 4000;
  int small = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(others);
    for (double& value : values) value = normal(random);
    const Others it = of(values);
    double sum = 0;
    for (double member = 0; member < members; ++member) sum += normal(random);
    small += it.p_slower(sum / members - it.middle, members) < 0.05;
  }
  return double(small) / kTrials;
}

TEST(Outlier, ChanceGivesASmallPAsOftenAsItSays) {
  // Three standard errors of a share of 5 % in 4,000 trials are 1 %.
  for (size_t others : {3, 4, 8, 50})
    EXPECT_NEAR(share_of_small_p(independent, others), 0.05, 0.01) << others;
  EXPECT_NEAR(share_of_small_p(independent, 8, 4), 0.05, 0.01);
  EXPECT_NEAR(share_of_small_p(mostly_good, 200), 0.05, 0.01);
  EXPECT_LT(share_of_small_p(mostly_good, 8), 0.06);
}

// One rank of a run of its own, against three runs of eight ranks that are alike: as independent ones they
// would give a small p twice as often as they may.
TEST(Outlier, RanksOfOneRunCountAsFewer) {
  std::mt19937 random(1);
  std::normal_distribution<double> of_run(0, 0.02), of_rank(0, 0.01);
  constexpr int kTrials = 4000;
  int small = 0, if_independent = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> runs(3, std::vector<double>(8));
    std::vector<double> all;
    for (std::vector<double>& run : runs) {
      const double middle = of_run(random);
      for (double& value : run) all.push_back(value = middle + of_rank(random));
    }
    const double one = of_run(random) + of_rank(random);
    small += known_good(runs).p_slower(one - known_good(runs).middle) < 0.05;
    if_independent += independent(all).p_slower(one - independent(all).middle) < 0.05;
  }
  EXPECT_LT(small, 0.065 * kTrials);
  EXPECT_GT(if_independent, 0.10 * kTrials);
}

TEST(Outlier, ASlowOneAmongTheOthersHidesNoneOfThemByTheMedian) {
  std::vector<double> values = {0, 0.01, -0.01, 0.02, -0.02, 0.01, -0.01, 0, 0.01, 1};
  EXPECT_LT(mostly_good(values).scale, 0.03);
  EXPECT_GT(independent(values).scale, 0.3);
}

TEST(Outlier, OthersThatAreEqualScatterAsMuchAsAClockTells) {
  const Others equal = independent({5, 5, 5, 5});
  EXPECT_GT(equal.p_slower(0.0005), 0.05);
  EXPECT_LT(equal.p_slower(0.05), 0.001);
}

TEST(Outlier, OneOfTwoMedianDeviationsTellsNothing) {
  EXPECT_EQ(mostly_good({0, 1}).p_slower(100), 0.5);
  EXPECT_TRUE(std::isinf(mostly_good({0, 1}).reach()));
}

// The example of Benjamini & Hochberg 1995, table of 15 hypotheses: four are rejected at 5 %.
TEST(Outlier, DiscoveriesAreThoseOfThePapersExample) {
  const std::vector<double> p = {0.0459, 0.0004, 0.3240, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298,
                                 0.0344, 0.0001, 0.4262, 0.5719, 0.6528, 0.7590, 1.000};
  EXPECT_EQ(largest_discovery(p, 0.05), 0.0095);
  EXPECT_LT(largest_discovery(p, 0.001), 0);
  EXPECT_LT(largest_discovery({}, 0.05), 0);
}

}  // namespace harness::outlier_test
