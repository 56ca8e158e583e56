// unit: segments of several ranks joined in one record: the same steps of every rank
#include "harness/own_job/job_record.h"

#include <gtest/gtest.h>

#include "harness/stats/statistics.h"
#include "tests/support/failure_of.h"

namespace harness::job_record_test {
namespace {

// Steps of 10, 11, 12 ... ms.
ProbeSegment segment(int64_t index, int64_t steps) {
  ProbeSegment made;
  made.index = index;
  made.items = 4 * steps;
  for (int64_t i = 0; i < steps; ++i) {
    ProbeStep& step = made.steps.emplace_back();
    step.wall_ms = step.forward_ms = double(10 + i);
    step.items = 4;
  }
  return made;
}

ProbeReport two_ranks(std::vector<ProbeSegment> first, std::vector<ProbeSegment> second) {
  ProbeReport report;
  report.ranks.resize(2);
  report.ranks[0].segments = std::move(first);
  report.ranks[1].segments = std::move(second);
  report.ranks[1].rank = 1;
  for (ProbeRank& rank : report.ranks) rank.world = 2;
  return report;
}

Record joined(const ProbeReport& report) {
  SegmentsOf all;
  all.indices = {0, 1};
  return job_record({}, report, {}, all);
}

TEST(JobRecord, AStepInWhichOneRankValidatesIsOfNoRank) {
  ProbeReport report = two_ranks({segment(0, 6)}, {segment(0, 6)});
  report.ranks[0].segments[0].excluded = 1;
  report.ranks[0].segments[0].left_out = {2};
  const Record record = joined(report);
  ASSERT_EQ(record.status, "OK") << record.reason;
  EXPECT_EQ(record.timed_batches, 5);
  EXPECT_EQ(record.samples_ms.at("forward"), (std::vector<std::vector<double>>(2, {10, 11, 13, 14, 15})));
  EXPECT_EQ(record.config.batch, 8) << "of both ranks, without the step left out";
  EXPECT_EQ(record.job->excluded, 1);
  report.ranks[1].segments[0].left_out = {4};
  EXPECT_EQ(joined(report).timed_batches, 4);
  EXPECT_EQ(joined(report).job->excluded, 2);
  EXPECT_EQ(run_statistics(joined(report)).batches, 4);
}

TEST(JobRecord, SegmentsThatARankDidNotFinishAreOfNoRank) {
  ProbeReport report = two_ranks({segment(0, 4), segment(1, 4)}, {segment(0, 4), segment(1, 2)});
  report.ranks[1].segments[1].unfinished = true;
  EXPECT_EQ(joined(report).timed_batches, 4);
  report.ranks[1].segments.pop_back();
  EXPECT_EQ(joined(report).timed_batches, 4);
  report.ranks[1].segments.clear();
  EXPECT_EQ(joined(report).status, "CRASHED");
  report.ranks[1].impossible[""] = "it has no such form";
  EXPECT_EQ(joined(report).status, "SKIPPED");
  EXPECT_EQ(joined(report).reason, "it has no such form");
}

TEST(JobRecord, RanksThatTimedDifferentNumbersOfStepsHaveNoFigure) {
  const Record record = joined(two_ranks({segment(0, 6)}, {segment(0, 5)}));
  EXPECT_EQ(record.status, "INVALID");
  EXPECT_SAYS(record.reason, "rank 1 timed 5 iterations, others 6");
  EXPECT_FALSE(record.total_s);
  EXPECT_TRUE(record.samples_ms.empty());
}

}  // namespace
}  // namespace harness::job_record_test
