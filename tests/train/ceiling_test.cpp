// train: ceilings after a slice: the loader ceiling has the loader's limits and no head start, the compute
// ceiling excludes loader and emulated host work; the last batch's timeline.
#include "bench/train/ceiling.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <set>
#include <thread>

#include "bench/train/rank_report.h"
#include "tests/support/device_around.h"
#include "tests/support/small_images.h"

namespace bench::ceiling_test {

class LoaderAlone : public testing::TestWithParam<int> {};

TEST_P(LoaderAlone, IsAsSlowAsItsReadsAndTheRingGivesNothingAway) {
  const TemporaryFolder folder;
  const Dataset dataset = small_dataset(folder.path(), 31);
  constexpr double kLatency_ms = 4;
  const auto storage =
      throttled(StorageRegistry::instance().find("files")({dataset, "", true, {}}), 0, kLatency_ms);
  LoaderOptions options;
  options.batch_size = 5;
  options.image_px = 16;
  options.threads = GetParam();
  options.ring_depth = 6;
  options.classes = 2;
  options.sampler.records = 31;
  const auto loader = make_loader(*storage, options);
  const auto group = GroupRegistry::instance().find("none")(GroupOptions());
  harness::ProgressSlot slot{};
  harness::RankCeilings ceilings;
  ceilings.batches = 4;
  loader_ceiling(*loader, *group, slot, ceilings);
  const double images_at_once = std::max(1, GetParam());
  // Between the end of one batch and the next a thread may already be some images ahead, never batches.
  EXPECT_GT(*ceilings.loader_ms, 0.7 * 5 * kLatency_ms / images_at_once);
  EXPECT_LT(*ceilings.loader_ms, 20 * 5 * kLatency_ms / images_at_once)
      << "on a busy machine sleeps end late";
  EXPECT_GE(*ceilings.read_ms, 4 * 5 * kLatency_ms);
  EXPECT_GT(*ceilings.decode_ms, 0);
  EXPECT_EQ(slot.batches, 4u) << "the watchdog must see that batches go on";
}

INSTANTIATE_TEST_SUITE_P(Threads, LoaderAlone, testing::Values(0, 1, 2));

LoaderOptions options_of(const harness::Row& row) {
  LoaderOptions options;
  options.batch_size = row.batch;
  options.image_px = row.image_px;
  options.classes = row.classes;
  options.sampler.records = row.batch;
  return options;
}

double sum_of(const std::map<std::string, double>& phases_ms) {
  double sum = 0;
  for (const auto& [name, ms] : phases_ms) sum += ms;
  return sum;
}

TEST(ComputeAlone, IsTheWholeStepOfTheStrategy) {
  for (const char* strategy : {"single", "data_parallel"}) {
    const bool several = strategy == std::string("data_parallel");
    TinyRank rank(tiny_row(strategy, several ? 2 : 1));
    const std::string before = weights_fingerprint(*rank.model);
    const harness::RankCeilings ceilings = compute_ceiling(rank.parts(), options_of(rank.row), 5);
    for (const char* phase : {"h2d", "forward", "loss", "backward", "step"})
      EXPECT_GT(ceilings.compute.at(phase), 0) << strategy << ' ' << phase;
    for (const char* phase : {"scatter", "broadcast", "gather", "reduce"})
      EXPECT_EQ(ceilings.compute.count(phase), several) << strategy << ' ' << phase;
    EXPECT_EQ(ceilings.compute.count("load"), 0u);
    EXPECT_NEAR(sum_of(ceilings.compute) / ceilings.compute_ms, 1, 0.02) << strategy;
    EXPECT_NE(weights_fingerprint(*rank.model), before) << "the update is part of the step";
  }
}

// Counts how often the host reads what the device computed; it is `behind` the host, which waits when it
// synchronises.
class CountingDevice : public DeviceAround {
 public:
  using DeviceAround::DeviceAround;
  at::Tensor read(const at::Tensor& values) override {
    ++reads;
    return DeviceAround::read(values);
  }
  void synchronize() override { std::this_thread::sleep_for(behind); }
  int reads = 0;
  std::chrono::milliseconds behind{0};
};

TEST(ComputeAlone, ReadsTheLossAsOftenAsTheRowDoes) {
  for (const auto& [loss_every, in_slice, in_ceiling] :
       {std::tuple(1, 7, 7), std::tuple(2, 3, 3), std::tuple(100, 0, 0)}) {
    harness::Row row = tiny_row();  // 2 and 5 batches
    row.loss_every = loss_every;
    TinyRank rank(row);
    CountingDevice device(*rank.device);
    const SliceParts parts = parts_on(device, rank, *rank.loader);
    run_slice(parts);
    EXPECT_EQ(device.reads, in_slice) << loss_every;
    device.reads = 0;
    compute_ceiling(parts, options_of(row), 5);  // and two that are not timed
    EXPECT_EQ(device.reads, in_ceiling) << loss_every;
  }
}

TEST(ComputeAlone, TimesOfItsBatchesHaveTheWaitForTheDeviceAtTheEnd) {
  harness::Row row = tiny_row();
  TinyRank rank(row);
  CountingDevice device(*rank.device);
  device.behind = std::chrono::milliseconds(40);
  const SliceParts parts = parts_on(device, rank, *rank.loader);
  run_slice(parts);
  const harness::RankCeilings ceilings = compute_ceiling(parts, options_of(row), 5);
  ASSERT_EQ(ceilings.compute_batch_ms.size(), 5u);
  EXPECT_GE(ceilings.compute_batch_ms[0], 40);
  EXPECT_NEAR(std::accumulate(ceilings.compute_batch_ms.begin(), ceilings.compute_batch_ms.end(), 0.0),
              5 * ceilings.compute_ms, 1e-6);
}

TEST(ComputeAlone, DoesNotBurdenTheHost) {
  harness::Row row = tiny_row();
  row.host_work_ms = 30;
  TinyRank rank(row);
  const SliceResult result = run_slice(rank.parts());
  for (const double ms : result.clock.milliseconds(Phase::other, row.warmup_batches, row.timed_batches))
    EXPECT_GE(ms, 30);
  EXPECT_LT(compute_ceiling(rank.parts(), options_of(row), 5).compute["other"], 3);
}

TEST(LastBatch, PhasesFollowEachOtherAndReplicasLieInsideThem) {
  const harness::Row row = tiny_row("data_parallel", 3);
  TinyRank rank(row);
  const SliceResult result = run_slice(rank.parts());
  const nlohmann::json timeline = harness::encode(*rank_report(rank.parts(), {}, result, {}, {}).timeline);
  std::map<std::string, std::pair<double, double>> host;
  std::set<std::string> seen;
  double last = 0;
  for (const auto& event : timeline["events"]) {
    const std::string track = event["track"], name = event["name"];
    const double begin = event["begin_ms"], end = event["end_ms"];
    ASSERT_LE(begin, end);
    if (track == "host") {
      EXPECT_DOUBLE_EQ(begin, last) << name << ": no gap and no overlap";
      last = end;
      host[name] = {begin, end};
      continue;
    }
    seen.insert(track + ' ' + name);
    EXPECT_GE(begin, host.at(name).first) << track;
    EXPECT_LE(end, host.at(name).second) << track;
  }
  EXPECT_EQ(seen, (std::set<std::string>{"device 0 forward", "device 0 backward", "device 1 forward",
                                         "device 1 backward", "device 2 forward", "device 2 backward"}));
  double step_ms = 0;
  for (size_t phase = 0; phase < kPhaseNames.size(); ++phase)
    step_ms += result.clock.milliseconds(Phase(phase), row.warmup_batches + row.timed_batches - 1, 1)[0];
  EXPECT_NEAR(last, step_ms, 1e-3);
}

}  // namespace bench::ceiling_test
