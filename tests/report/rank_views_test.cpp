// unit: the phases of several ranks add up to the wall time, and exposed communication is one figure
// everywhere
#include "harness/report/summary/rank_views.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "harness/contract/phases.h"
#include "harness/report/bottleneck.h"
#include "harness/report/metrics.h"
#include "harness/report/summary/summary.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness::rank_views_test {

using nlohmann::json;

constexpr int kRanks = 3, kBatches = 50;

// Ranks compute for random times, rank 2 usually longer; each batch ends for all when the slowest is done.
json random_run() {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> jitter(0, 4);
  json samples;
  for (const char* phase : {"load", "forward", "backward", "sync"})
    samples[phase] = json(kRanks, json::array());
  double total_ms = 0;
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<double> load, forward, backward, step;
    for (int rank = 0; rank < kRanks; ++rank) {
      load.push_back(jitter(random));
      forward.push_back(10 + (rank == 2 ? 5 : 0));
      backward.push_back(20 + jitter(random));
      step.push_back(load.back() + forward.back() + backward.back());
    }
    const double slowest = *std::max_element(step.begin(), step.end());
    for (int rank = 0; rank < kRanks; ++rank) {
      samples["load"][rank].push_back(load[rank]);
      samples["forward"][rank].push_back(forward[rank]);
      samples["backward"][rank].push_back(backward[rank]);
      samples["sync"][rank].push_back(1 + slowest - step[rank]);
    }
    total_ms += slowest + 1;
  }
  return {{"world_size", kRanks},
          {"timed_batches", kBatches},
          {"total_s", total_ms / 1000},
          {"config", {{"batch", 12}, {"strategy", "ddp"}, {"devices", kRanks}, {"backend", "gloo"}}},
          {"samples_ms", samples},
          {"spans_ms", {{"communication", json(kRanks, json(kBatches, 8.0))}}},
          {"communication", {{"all_reduced_bytes", 1000}, {"ceiling_ms", 1.0}}}};
}

double sum_of(const RankView& view) {
  return std::accumulate(view.phases_ms.begin(), view.phases_ms.end(), view.rest_ms);
}

TEST(RankViews, BothAddUpToTheWallTime) {
  const auto views = rank_views(typed(random_run()));
  ASSERT_TRUE(views);
  EXPECT_NEAR(sum_of(views->mean), views->wall_ms, 1e-9);
  EXPECT_NEAR(sum_of(views->critical), views->wall_ms, 1e-9);
  EXPECT_NEAR(views->mean.rest_ms, 0, 1e-9) << "no rank was idle outside of its phases";
  EXPECT_NEAR(views->critical.rest_ms, 0, 1e-9);
}

TEST(RankViews, TheCriticalRankWaitsLeast) {
  const auto views = rank_views(typed(random_run()));
  EXPECT_EQ(views->critical_rank, 2u);
  EXPECT_GT(views->critical_share, 0.9);
  const auto sync = size_t(Phase::sync);
  EXPECT_NEAR(views->critical.phases_ms[sync], 1, 1e-9);
  EXPECT_GT(views->mean.phases_ms[sync], 3);
}

TEST(RankViews, EqualRanksHaveNoCriticalOne) {
  json even = random_run();
  for (auto& [phase, by_rank] : even["samples_ms"].items()) by_rank = json(kRanks, json(kBatches, 5.0));
  even["total_s"] = 0.02 * kBatches;
  const auto views = rank_views(typed(even));
  EXPECT_EQ(views->critical_share, 0);
  const std::vector<Summary> summaries = summarise(typed(std::vector<json>{even}));
  EXPECT_EQ(rank_views_grid(summaries.at(0)).rows.at(1).at(1), "critical path (ranks alike)");
}

TEST(RankViews, OneRankHasNone) {
  json alone = random_run();
  alone["world_size"] = 1;
  EXPECT_FALSE(rank_views(typed(alone)));
  json failed = random_run();
  failed["status"] = "INVALID";
  EXPECT_FALSE(rank_views(typed(failed)));
}

// The table of communication, the metric, the verdict and the ranks' table are of the same time.
TEST(Exposed, IsOneFigureInAllTables) {
  json record = random_run();
  record["samples_ms"]["broadcast"] = json(kRanks, json(kBatches, 12.0));
  record["total_s"] = record["total_s"].get<double>() + 0.012 * kBatches;
  record["ceilings"] = {{"batches", 3}, {"loader_ms", 1.0}, {"compute_ms", 30.0}};
  const std::vector<Summary> summaries = summarise(typed(std::vector<json>{record}));
  const SummaryRow& row = summaries.at(0).rows.at(0);
  const double exposed = row.communication->exposed_ms;
  EXPECT_NEAR(*metric("exposed_ms").figure(row), exposed, 1e-9);
  const auto views = rank_views(*row.record);
  EXPECT_NEAR(views->mean.phases_ms[size_t(Phase::sync)] + views->mean.phases_ms[size_t(Phase::broadcast)],
              exposed, 1e-9);
  const auto found = bottleneck_of(row);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->shares.communication * views->wall_ms, exposed, 1e-6);
  const std::string figure = fmt::format("{:.1f}", exposed);
  EXPECT_EQ(found->verdict, "communication");
  EXPECT_SAYS(found->figure, "exposed are " + figure);
  EXPECT_EQ(communication_grid(summaries.at(0)).rows.at(0).at(8), figure);
}

}  // namespace harness::rank_views_test
