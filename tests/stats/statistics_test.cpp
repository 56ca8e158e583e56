// unit: statistics of one run, on inputs worked out by hand and on simulated runs with a known truth
#include "harness/stats/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/typed_records.h"

namespace harness::statistics_test {

using nlohmann::json;

json record_of(const json& samples_ms, int batches) {
  return {{"timed_batches", batches},
          {"total_s", 2.0},
          {"config", {{"batch", 16}, {"window", "100-399"}, {"loader_threads", 4}}},
          {"samples_ms", samples_ms}};
}

Record typed_of(const json& samples_ms, int batches) { return typed(record_of(samples_ms, batches)); }

// AR(1) around `level` with stationary standard deviation 2 %.
std::vector<double> dependent_run(double phi, int count, double level, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, 0.02 * level);
  std::vector<double> values;
  double state = normal(random);
  for (int i = 0; i < count; ++i) {
    state = phi * state + std::sqrt(1 - phi * phi) * normal(random);
    values.push_back(level + state);
  }
  return values;
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 0.05), 12);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 1), 50);
  EXPECT_DOUBLE_EQ(median({}), 0);
}

TEST(MeanOfBatches, DependentBatchesCountAsFewer) {
  EXPECT_EQ(mean_of_batches({}).degrees, 0);
  const Mean alternating = mean_of_batches({1, 3, 1, 3, 1, 3, 1, 3});
  EXPECT_EQ(alternating.value, 2);
  EXPECT_NEAR(alternating.error, std::sqrt(8.0 / 7 / 8), 1e-12);
  EXPECT_EQ(alternating.degrees, 7);
  std::vector<double> slow;  // an autoregressive series: tau_int = (1 + 0.8) / (1 - 0.8) = 9
  std::mt19937 random(3);
  std::normal_distribution<double> noise;
  for (double value = 0; slow.size() < 2000; value = 0.8 * value + noise(random)) slow.push_back(value);
  EXPECT_NEAR(mean_of_batches(slow).degrees, 2000.0 / 9, 80);
  EXPECT_NEAR(mean_of_batches(slow).error, 5 / std::sqrt(2000.0), 0.03) << "1 / (1 - 0.8) / sqrt(n)";
}

TEST(RunStatistics, StepIsTheSlowestRanksSumOfPhases) {
  const RunStatistics s = run_statistics(
      typed_of({{"load", {{1, 1, 1, 9}, {1, 3, 1, 1}}}, {"forward", {{4, 4, 4, 4}, {6, 4, 4, 4}}}}, 4));
  // Steps 7, 7, 5, 13; rank 0 takes 5 5 5 13 and rank 1 takes 7 7 5 5.
  EXPECT_DOUBLE_EQ(s.mean_ms, 8);
  EXPECT_DOUBLE_EQ(s.median_ms, 7);
  EXPECT_DOUBLE_EQ(s.max_ms, 13);
  EXPECT_DOUBLE_EQ(s.skew_ms, 2);
  EXPECT_DOUBLE_EQ(s.images_per_second, 32);
  EXPECT_FALSE(s.startup_ms);
  EXPECT_FALSE(s.median_ci_ms) << "four batches are too few for an interval";
}

TEST(RunStatistics, PhasesAreMeansOverRanksAndSharesOfTheWhole) {
  const RunStatistics s = run_statistics(
      typed_of({{"load", {{1, 1, 1, 9}, {1, 3, 1, 1}}}, {"forward", {{4, 4, 4, 4}, {6, 4, 4, 4}}}}, 4));
  ASSERT_EQ(s.phases.size(), 2u);
  EXPECT_EQ(s.phases[0].name, "load");
  EXPECT_DOUBLE_EQ(s.phases[0].mean_ms, 2.25);
  EXPECT_DOUBLE_EQ(s.phases[0].median_ms, 1.5);
  EXPECT_DOUBLE_EQ(s.phases[0].share, 2.25 / 6.5);
  EXPECT_DOUBLE_EQ(s.phases[0].share + s.phases[1].share, 1);
}

TEST(RunStatistics, PhasesOfAnEmulatedDeviceAreThoseOfItsTimelines) {
  Record record = typed_of({{"load", {{1, 1}}}, {"forward", {{9, 9}}}}, 2);
  record.device_ms = {{"load", {{0, 0}}}, {"forward", {{4, 6}}}};
  EXPECT_DOUBLE_EQ(run_statistics(record).phases[1].mean_ms, 9) << "a real device's host phases stay";
  record.device.kind = "emulated";
  EXPECT_DOUBLE_EQ(run_statistics(record).phases[1].mean_ms, 5);
  EXPECT_DOUBLE_EQ(run_statistics(record).mean_ms, 5) << "a late host lengthens no step of the device";
}

TEST(RunStatistics, FirstBatchIsStartUpOnlyWhereTheWindowBeginsWithIt) {
  json record = record_of({{"load", {{90, 1, 1, 1}}}}, 4);
  record["config"]["window"] = "0-299";
  EXPECT_DOUBLE_EQ(run_statistics(typed(record)).startup_ms.value(), 90);
  EXPECT_DOUBLE_EQ(run_statistics(typed(record)).max_ms, 90) << "it stays in the run: nothing is removed";
}

TEST(RunStatistics, WithoutPhaseClockOnlyTheTotalIsKnown) {
  const RunStatistics s = run_statistics(typed_of(json::object(), 4));
  EXPECT_FALSE(s.has_samples);
  EXPECT_DOUBLE_EQ(s.images_per_second, 32);
}

TEST(Dependence, OfHandMadeSeries) {
  EXPECT_DOUBLE_EQ(autocorrelation({1, -1, 1, -1}, 1), -0.75);
  EXPECT_DOUBLE_EQ(autocorrelation({5, 5, 5}, 1), 0);
  EXPECT_DOUBLE_EQ(integrated_autocorrelation_time(std::vector<double>(300, 5)), 1);
}

TEST(Dependence, FindsTheTimeOfAnAutoregressiveSeries) {
  std::mt19937_64 random(7);
  // The true value is (1 + phi) / (1 - phi).
  EXPECT_NEAR(integrated_autocorrelation_time(dependent_run(0.5, 20000, 40, random)), 3, 0.4);
  EXPECT_NEAR(integrated_autocorrelation_time(dependent_run(0.8, 20000, 40, random)), 9, 1.5);
}

TEST(MedianInterval, CoversTheTruthDespiteDependence) {
  std::mt19937_64 random(11);
  int covered = 0, covered_if_independent = 0;
  const int trials = 200;
  for (int i = 0; i < trials; ++i) {
    const std::vector<double> run = dependent_run(0.5, 300, 40, random);
    const Interval blocks = median_interval(run, 20, 400);
    const Interval single = median_interval(run, 1, 400);
    covered += blocks.low <= 40 && 40 <= blocks.high;
    covered_if_independent += single.low <= 40 && 40 <= single.high;
  }
  EXPECT_GE(covered, trials * 0.88);
  EXPECT_LE(covered_if_independent, trials * 0.88) << "resampling single batches would look too sure";
}

TEST(MedianInterval, IsTheSameEveryTimeAndNeverARotation) {
  std::mt19937_64 random(3);
  const std::vector<double> run = dependent_run(0.8, 300, 40, random);
  const Interval once = median_interval(run, 20), again = median_interval(run, 20);
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  EXPECT_LT(median_interval(run, 300).low, median_interval(run, 300).high);
}

TEST(Drift, IsFlaggedWhenItIsLargeAndSureAndNotOtherwise) {
  std::mt19937_64 random(5);
  std::vector<double> steady = dependent_run(0.3, 300, 40, random), rising = steady;
  for (size_t i = 0; i < rising.size(); ++i) rising[i] *= 1 + 0.06 * static_cast<double>(i) / 300;
  const RunStatistics calm = run_statistics(typed_of({{"forward", json::array({steady})}}, 300));
  const RunStatistics slowing = run_statistics(typed_of({{"forward", json::array({rising})}}, 300));
  EXPECT_FALSE(calm.drifts);
  EXPECT_TRUE(slowing.drifts);
  EXPECT_NEAR(slowing.drift_share, 0.04, 0.01);
  EXPECT_GE(slowing.block, 20);
  EXPECT_LE(slowing.median_ci_ms->low, slowing.median_ms);
  EXPECT_GE(slowing.median_ci_ms->high, slowing.median_ms);
}

TEST(Drift, OnePercentIsNoDriftHoweverSure) {
  std::vector<double> rising(300);
  for (size_t i = 0; i < 300; ++i) rising[i] = 40 * (1 + 0.015 * static_cast<double>(i) / 300);
  EXPECT_FALSE(run_statistics(typed_of({{"forward", json::array({rising})}}, 300)).drifts);
}

}  // namespace harness::statistics_test
