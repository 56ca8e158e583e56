// unit: the time that a run still needs, after each of its rows.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "harness/plan/prediction.h"
#include "harness/stats/records.h"

namespace harness::time_left_test {

constexpr auto kEstimate = Prediction::From::estimate, kKnown = Prediction::From::earlier_runs;

// Twenty rows on a machine three times as slow as the one that the estimates are from, each off by up to 20
// %.
TEST(TimeLeft, AfterTheFirstRowIsWithinThirtyPercent) {
  std::vector<Prediction> rows;
  std::vector<double> truth;
  std::vector<size_t> runs;
  for (size_t i = 0; i < 20; ++i) {
    rows.push_back({10.0 + double(i % 3) * 8, kEstimate});
    truth.push_back(rows.back().seconds * 3 * (1 + 0.2 * std::sin(double(i))));
    runs.push_back(i);
  }
  TimeLeft time(rows, runs);
  double elapsed_s = 0;
  for (size_t i = 0; i + 1 < runs.size(); ++i) {
    elapsed_s += truth[i];
    time.ended(i, truth[i]);
    // The next row is running and expected to take what it takes.
    const double rest_s = std::accumulate(truth.begin() + ptrdiff_t(i) + 2, truth.end(), 0.0) + kReport_s;
    EXPECT_NEAR(time.rest_s(elapsed_s + truth[i + 1], truth[i + 1]) / rest_s, 1, 0.3) << "after row " << i;
  }
}

TEST(TimeLeft, TheRunningRowCounts) {
  TimeLeft time({{10, kEstimate}, {10, kEstimate}}, {0, 1});
  EXPECT_DOUBLE_EQ(time.rest_s(40, 40), 40 + kReport_s);
  EXPECT_DOUBLE_EQ(time.rest_s(0, 0), 10 + kReport_s);
}

TEST(TimeLeft, KnownRowsAreNotStretchedByEstimates) {
  TimeLeft time({{10, kEstimate}, {10, kKnown}, {10, kEstimate}}, {0, 1, 2});
  time.ended(0, 50);
  EXPECT_DOUBLE_EQ(time.run_s(1), 10);
  EXPECT_DOUBLE_EQ(time.run_s(2), 50);
  EXPECT_DOUBLE_EQ(time.run_s(0), 50) << "as it took";
}

TEST(TimeLeft, RepeatsCountAsFarAsTheyEndWithinTheLimit) {
  const TimeLeft time({{10, kKnown}, {30, kKnown}}, {0, 1}, {0, 1, 0, 1}, 95);
  // 10 + 30, then 10, 30 and 10 until second 90; the next 30 would end at 120.
  EXPECT_DOUBLE_EQ(time.rest_s(10, 10), 30 + 10 + 30 + 10 + kReport_s);
}

TEST(TimeLeft, RepeatsThatHaveRunCountNoMore) {
  TimeLeft time({{10, kKnown}, {10, kKnown}}, {0, 1}, {0, 1, 0, 1}, 1000);
  time.ended(0, 10);
  time.ended(1, 10);
  EXPECT_DOUBLE_EQ(time.rest_s(30, 10), 30 + kReport_s) << "the first repeat is in progress";
  for (const size_t row : {0, 1, 0}) time.ended(row, 10);
  EXPECT_DOUBLE_EQ(time.rest_s(60, 10), kReport_s) << "the last one is";
}

}  // namespace harness::time_left_test
