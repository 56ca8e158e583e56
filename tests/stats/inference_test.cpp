// unit: scatter borrowed from other rows' repeats: against worked and published values, and by simulation.
#include "harness/stats/inference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace harness::inference_test {

// Counts of insects under six sprays, R's data set InsectSprays.
const std::vector<std::vector<double>> kSprays = {{10, 7, 20, 14, 14, 12, 10, 23, 17, 20, 14, 13},
                                                  {11, 17, 21, 11, 16, 14, 17, 17, 19, 21, 7, 13},
                                                  {0, 1, 7, 2, 3, 1, 2, 1, 3, 0, 1, 4},
                                                  {3, 5, 12, 6, 4, 3, 5, 5, 5, 5, 2, 4},
                                                  {3, 5, 3, 5, 3, 6, 1, 1, 3, 2, 6, 4},
                                                  {11, 9, 15, 22, 15, 16, 13, 10, 26, 26, 24, 13}};
// Weights of plants, R's PlantGrowth.
const std::vector<std::vector<double>> kPlants = {
    {4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14},
    {4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69},
    {6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26}};

double bartlett_of(const std::vector<std::vector<double>>& groups) {
  std::vector<double> variances, degrees;
  for (const auto& group : groups) {
    variances.push_back(variance(group));
    degrees.push_back(double(group.size()) - 1);
  }
  return bartlett_p(variances, degrees);
}

std::vector<Runs> rows_of(const std::vector<std::vector<double>>& values, Family family) {
  std::vector<Runs> rows;
  for (const auto& one : values) rows.push_back({family, one});
  return rows;
}

TEST(Inference, BartlettIsThatOfPublishedExamples) {
  // R's bartlett.test by chi squared: p = 9.085e-05 and 0.2371.
  EXPECT_NEAR(std::log10(bartlett_of(kSprays)), std::log10(9.085e-05), 0.1);
  EXPECT_NEAR(bartlett_of(kPlants), 0.2371, 0.003);
  EXPECT_EQ(bartlett_p({1}, {5}), 1);
  EXPECT_NEAR(bartlett_p({2, 2, 2}, {1, 1, 1}), 1, 1e-9);
}

TEST(Inference, APoolIsAnAnalysisOfVariance) {
  // R: anova(lm(weight ~ group, PlantGrowth)): residuals 27 degrees, mean square 0.38859;
  // pairwise.t.test(pool.sd = TRUE, "none"): ctrl-trt1 0.1944, ctrl-trt2 0.0877, trt1-trt2 0.0045.
  const std::vector<Runs> rows = rows_of(kPlants, Family::modelled);
  const Pools pools(rows);
  const Mean one = pools.sum_of({{&rows[2], 1}, {&rows[0], -1}});
  EXPECT_NEAR(one.value, 0.494, 1e-9);
  EXPECT_NEAR(one.degrees, 27, 1e-9);
  EXPECT_NEAR(one.p_against(0), 0.0877, 5e-4);
  const Mean other = pools.sum_of({{&rows[1], 1}, {&rows[0], -1}});
  EXPECT_GT(other.p_against(0), 0.1944) << "trt1 scatters more than the pool, and keeps its own variance";
}

TEST(Inference, ARowThatRanOnceBorrowsItsScatter) {
  // By hand: variances 1 and 1 (times 0.01^2) of rows with three runs each, so 4 degrees and s = 0.01.
  const std::vector<Runs> rows = {{Family::loader, {0.99, 1.00, 1.01}}, {Family::loader, {1.99, 2.00, 2.01}}};
  const Runs once{Family::loader, {1.5}};
  const Pools pools(rows);
  const Mean mean = pools.sum_of({{&once, 1}, {&rows[0], -1}});
  EXPECT_NEAR(mean.value, 0.5, 1e-12);
  EXPECT_NEAR(mean.error, 0.01 * std::sqrt(1 + 1.0 / 3), 1e-12);
  EXPECT_NEAR(mean.degrees, 4, 1e-12);
  EXPECT_NEAR(mean.reach(), 2.776445 * mean.error, 1e-6);
  EXPECT_EQ(pools.why_none({{&once, 1}}), "");
}

TEST(Inference, FamiliesThatDifferAddByWelch) {
  std::vector<Runs> rows = {{Family::modelled, {0.99, 1.00, 1.01}},
                            {Family::modelled, {1.99, 2.00, 2.01}},
                            {Family::storage, {0.8, 1.0, 1.2}},
                            {Family::storage, {1.8, 2.0, 2.2}}};
  const Mean mean = Pools(rows).sum_of({{&rows[0], 1}, {&rows[2], -1}});
  const double quiet = 1e-4 / 3, loud = 0.04 / 3;
  EXPECT_NEAR(mean.error, std::sqrt(quiet + loud), 1e-12);
  EXPECT_NEAR(mean.degrees, std::pow(quiet + loud, 2) / (quiet * quiet / 4 + loud * loud / 4), 1e-9);
}

TEST(Inference, NoScatterAtAllCountsAsATenthOfAPercent) {
  const std::vector<Runs> rows = {{Family::modelled, {2, 2, 2}}, {Family::modelled, {3, 3, 3}}};
  const Mean mean = Pools(rows).sum_of({{&rows[1], 1}, {&rows[0], -1}});
  EXPECT_NEAR(mean.error, kLeastScatter * std::sqrt(2.0 / 3), 1e-12);
}

TEST(Inference, ARowOfMoreScatterKeepsItsOwn) {
  const std::vector<Runs> rows = {{Family::loader, {1, 1.01, 1.02}}, {Family::loader, {1, 1.02, 1.04}}};
  const Mean mean = Pools(rows).sum_of({{&rows[1], 1}});
  EXPECT_NEAR(mean.error, 0.02 / std::sqrt(3.0), 1e-12) << "the pool's is 0.0158";
}

TEST(Inference, WithoutAPoolItSaysWhy) {
  const std::vector<Runs> rows = {{Family::loader, {1, 1.01}},
                                  {Family::loader, {1}},
                                  {Family::storage, {1, 1.001, 1.002}},
                                  {Family::storage, {2, 2.2, 1.8}},
                                  {Family::storage, {3, 3.001, 3.002}}};
  const Pools pools(rows);
  EXPECT_EQ(pools.sum_of({{&rows[0], 1}}).degrees, 0);
  EXPECT_EQ(pools.why_none({{&rows[1], 1}}),
            "the scatter of loader-bound rows takes 3 repeats of two rows to tell, these are 1");
  EXPECT_EQ(pools.sum_of({{&rows[2], 1}}).degrees, 0);
  EXPECT_NE(pools.why_none({{&rows[2], 1}}).find("storage-bound rows scatter unequally (Bartlett's p "),
            std::string::npos);
  const Runs other{Family::link, {1}};
  EXPECT_NE(pools.why_none({{&other, 1}}), "") << "no row of its family ran";
}

TEST(Inference, OwnVariancesAreWelchs) {
  const Runs a{.values = {1, 2, 3}}, b{.values = {5, 9}}, once{.values = {4}};
  const Mean mean = sum_of_own({{&a, 1}, {&b, -1}});
  EXPECT_NEAR(mean.error, std::sqrt(1.0 / 3 + 4), 1e-12);
  EXPECT_NEAR(mean.degrees, std::pow(1.0 / 3 + 4, 2) / (1.0 / 9 / 2 + 16), 1e-9);
  EXPECT_EQ(sum_of_own({{&a, 1}, {&once, -1}}).degrees, 0);
}

TEST(Inference, FewRunsHaveTheDegreesOfTheFewest) {
  const Runs a{.values = {1, 2, 3}}, b{.values = {5, 9, 7, 7}}, twice{.values = {4, 5}},
      still{.values = {4, 4, 4}};
  const Mean mean = sum_of_few({{&a, 1}, {&b, -1}});
  EXPECT_NEAR(mean.value, -5, 1e-12);
  EXPECT_NEAR(mean.error, std::sqrt(1.0 / 3 + 8.0 / 3 / 4), 1e-12);
  EXPECT_EQ(mean.degrees, 2);
  EXPECT_EQ(sum_of_few({{&a, 1}, {&twice, -1}}).degrees, 0);
  EXPECT_NEAR(sum_of_few({{&still, 1}}).error, kLeastScatter / std::sqrt(3.0), 1e-12);
}

// Whatever the scatters are, the intervals of three and of four runs must not miss more than 5 %.
TEST(Inference, OfFewUnequalRunsCoverAtLeastAsTheySay) {
  std::mt19937_64 random(12);
  std::normal_distribution<double> noise(0, 1);
  for (const double scatter : {1.0, 0.1, 0.01}) {
    int misses = 0;
    for (int i = 0; i < 4000; ++i) {
      Runs a{.values = std::vector<double>(3)}, b{.values = std::vector<double>(4)};
      for (double& value : a.values) value = noise(random);
      for (double& value : b.values) value = scatter * noise(random);
      const Mean mean = sum_of_few({{&a, 1}, {&b, -1}});
      misses += std::abs(mean.value) > mean.reach();
    }
    EXPECT_LT(misses / 4000.0, 0.06) << scatter;
    EXPECT_GT(misses / 4000.0, scatter < 1 ? 0.035 : 0.005) << scatter;
  }
}

// Twelve equal rows, of which some ran once: the intervals of all pairs must miss at most 5 % each.
TEST(Inference, IntervalsCoverAsTheySay) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0, 0.01);
  int misses = 0, intervals = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<Runs> rows(12, {Family::ranks, {}});
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t run = 0; run < (row < 6 ? 3u : 1u); ++run) rows[row].values.push_back(noise(random));
    const Mean mean = Pools(rows).sum_of({{&rows[0], 1}, {&rows[11], -1}});
    if (mean.degrees < 1) continue;  // Bartlett's test rejects one of ten
    ++intervals;
    misses += std::abs(mean.value) > mean.reach();
  }
  EXPECT_GT(intervals, 1700);
  EXPECT_LT(double(misses) / intervals, 0.06);
  EXPECT_GT(double(misses) / intervals, 0.03) << "not wider than needed";
}

}  // namespace harness::inference_test
