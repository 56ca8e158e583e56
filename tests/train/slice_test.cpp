// train: the loop itself: phases add up, windows, counts, and that waiting for data is seen by the clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "bench/train/rank_report.h"
#include "tests/support/device_around.h"
#include "tests/support/fake_report.h"
#include "tests/support/merged.h"
#include "tests/support/small_images.h"

namespace bench::slice_test {

double sum_of_all_phases_s(const SliceResult& result, const harness::Row& row) {
  double total = 0;
  for (size_t phase = 0; phase < kPhaseNames.size(); ++phase)
    for (double ms : result.clock.milliseconds(Phase(phase), row.warmup_batches, row.timed_batches))
      total += ms;
  return total / 1000;
}

double phase_s(const SliceResult& result, const harness::Row& row, Phase phase) {
  const auto ms = result.clock.milliseconds(phase, row.warmup_batches, row.timed_batches);
  return std::accumulate(ms.begin(), ms.end(), 0.0) / 1000;
}

TEST(Slice, PhasesAddUpToTheWindow) {
  for (const char* strategy : {"single", "data_parallel"}) {
    harness::Row row = tiny_row(strategy, strategy == std::string("single") ? 1 : 2);
    row.timed_batches = 30;
    TinyRank rank(row);
    const SliceResult result = run_slice(rank.parts());
    EXPECT_NEAR(sum_of_all_phases_s(result, row) / result.total_s, 1, 0.01) << strategy;
    EXPECT_LT(phase_s(result, row, Phase::other) / result.total_s, 0.02) << strategy;
    EXPECT_EQ(result.loss.size(), size_t(row.warmup_batches + row.timed_batches));
    EXPECT_EQ(result.correct.images, row.timed_batches * row.batch) << "accuracy counts timed batches only";
    EXPECT_EQ(rank.slot.batches, uint64_t(row.warmup_batches + row.timed_batches));
  }
}

// A loader that is slow, and says of each batch that is taken that two images of it were decoded on the
// engine and one by the CPU.
class LoaderAround : public Loader {
 public:
  explicit LoaderAround(Loader& inner, int wait_ms = 0) : inner_(inner), wait_(wait_ms) {}
  void start() override { inner_.start(); }
  Batch next() override {
    std::this_thread::sleep_for(wait_);
    decoded_.jpeg_engine += 2;
    ++decoded_.cpu;
    return inner_.next();
  }
  void release(const Batch& batch) override { inner_.release(batch); }
  int ready_batches() const override { return inner_.ready_batches(); }
  LoaderStats stats() const override {
    LoaderStats stats = inner_.stats();
    stats.decoded = decoded_;
    return stats;
  }

 private:
  Loader& inner_;
  const std::chrono::milliseconds wait_;
  harness::RecordDecoded decoded_;
};

TEST(Slice, WaitingForDataIsInsideTheClock) {
  const harness::Row row = tiny_row();
  TinyRank rank(row);
  LoaderAround slow(*rank.loader, 20);  // its time must be in phase `load` and nowhere else
  const SliceResult result = run_slice(rank.parts_with(slow, *rank.strategy));
  EXPECT_GE(phase_s(result, row, Phase::load), 0.020 * double(row.timed_batches));
  EXPECT_NEAR(sum_of_all_phases_s(result, row) / result.total_s, 1, 0.01);
}

TEST(Slice, AWindowFromTheFirstBatchHasNoWarmUp) {
  harness::Row row = tiny_row();
  row.warmup_batches = 0;
  TinyRank rank(row);
  warm_model(rank.parts(), row.batch);
  EXPECT_FALSE(rank.model->parameters()[0].tensor.grad().defined());
  const SliceResult result = run_slice(rank.parts());
  EXPECT_EQ(result.ready.at_start, 0);
  EXPECT_EQ(int64_t(result.loss.size()), row.timed_batches);
}

TEST(Slice, OfManyMicroBatchesEveryPhaseIsRemembered) {
  harness::Row row = tiny_row("data_parallel", 2);
  row.batch = 32;  // two images of each micro-batch per replica
  row.accumulation = 8;
  row.timed_batches = 2;
  TinyRank rank(row);
  const SliceResult result = run_slice(rank.parts());
  const size_t phases = result.clock.last_batch().size();
  EXPECT_EQ(phases, 5 + 8 * 7u);
  EXPECT_EQ(result.clock.calls_per_batch(), double(phases));
  EXPECT_LE(phases, most_phases(row.accumulation)) << "for which a device's clock has room";
}

TEST(Slice, WithoutThePhaseClockOnlyTheWindowIsTimed) {
  harness::Row row = tiny_row();
  row.phase_clock = false;
  TinyRank rank(row);
  const SliceResult result = run_slice(rank.parts());
  EXPECT_GT(result.total_s, 0);
  EXPECT_EQ(sum_of_all_phases_s(result, row), 0);
}

TEST(Slice, TheSameSeedGivesTheSameLosses) {
  const harness::Row row = tiny_row();
  TinyRank a(row), b(row);
  EXPECT_EQ(run_slice(a.parts()).loss, run_slice(b.parts()).loss);
}

// As on a GPU: a copy is in progress until the next one starts or until it is waited for.
class LateDevice : public DeviceAround {
 public:
  using DeviceAround::DeviceAround;
  DeviceBatch copy_batch(const Batch& batch) override {
    held_.push_back(batch);
    finished_ = false;
    return DeviceAround::copy_batch(batch);
  }
  std::optional<Batch> take_copied() override {
    if (held_.empty() || (held_.size() == 1 && !finished_)) return std::nullopt;
    const Batch batch = held_.front();
    held_.erase(held_.begin());
    return batch;
  }
  void finish_copy() override {
    finished_ = true;
    ++waits;
  }
  void synchronize() override { finished_ = true; }
  int waits = 0;

 private:
  std::vector<Batch> held_;
  bool finished_ = true;
};

class RingOf : public testing::TestWithParam<int> {};

TEST_P(RingOf, GetsItsBuffersBackFromADeviceThatCopiesLate) {
  const TemporaryFolder folder;
  const Dataset dataset = small_dataset(folder.path(), 31);
  harness::Row row = tiny_row();
  row.ring_depth = GetParam();
  TinyRank rank(row);
  LoaderOptions options;
  options.batch_size = row.batch;
  options.image_px = row.image_px;
  options.threads = 0;  // without threads a ring that stays full throws instead of waiting forever
  options.ring_depth = int(row.ring_depth);
  options.classes = row.classes;
  options.sampler.records = 31;
  const auto storage = StorageRegistry::instance().find("files")({dataset, "", true, {}});
  const auto loader = make_loader(*storage, options);
  LateDevice late(*rank.device);
  const SliceResult result = run_slice(parts_on(late, rank, *loader));
  EXPECT_EQ(result.loss.size(), size_t(row.warmup_batches + row.timed_batches));
  EXPECT_EQ(late.waits, row.ring_depth == 1 ? row.warmup_batches + row.timed_batches : 0)
      << "only a ring of one buffer has to wait for each copy";
}

INSTANTIATE_TEST_SUITE_P(Buffers, RingOf, testing::Values(1, 2, 4));

TEST(Report, MergesRanksAndNamesUnequalWeights) {
  const harness::Row row = tiny_row();
  std::vector<std::string> reports;
  for (int rank = 0; rank < 2; ++rank) {
    TinyRank tiny(row);
    RankInfo info;
    info.rank = rank;
    info.world_size = 2;
    const SliceResult result = run_slice(tiny.parts());
    harness::RecordCache cache;
    cache.encoded_bytes = 10;
    harness::RankReport report =
        rank_report(tiny.parts(), info, result, cache, {check_loss(result.loss, row.warmup_batches)});
    report.ceiling_ms = 1.0;  // measured after the report is made
    if (rank == 1) report.weights = "different";
    reports.push_back(harness::encode(report).dump());
  }
  const harness::Record merged = merged_texts(row, reports);
  ASSERT_EQ(merged.samples_ms.at("forward").size(), 2u);
  EXPECT_EQ(merged.samples_ms.at("forward")[1].size(), size_t(row.timed_batches));
  EXPECT_EQ(merged.loss.size(), size_t(row.timed_batches));
  EXPECT_EQ(merged.cache->encoded_bytes, 20);
  const auto weights = std::ranges::find(merged.checks, "weights", &Check::name);
  ASSERT_NE(weights, merged.checks.end());
  EXPECT_FALSE(weights->ok);
}

TEST(Report, FakeOnesHaveTheKeysOfRealOnes) {
  const harness::Row row = tiny_row();
  TinyRank tiny(row);
  RankInfo one_of_two;
  one_of_two.world_size = 2;
  harness::RankReport report = rank_report(tiny.parts(), one_of_two, run_slice(tiny.parts()), {}, {});
  report.ceiling_ms = 1.0;  // these two are measured after the report is made
  report.ceilings.emplace();
  const nlohmann::json real = harness::encode(report);
  const auto fake = fake_report(row, 0);
  EXPECT_EQ(fake.size(), real.size());
  for (const auto& [key, value] : real.items()) {
    ASSERT_TRUE(fake.contains(key)) << key;
    EXPECT_STREQ(fake[key].type_name(), value.type_name()) << key;
  }
}

// Records the rank's state at each call and returns one fake reading.
class FakeSampler : public DeviceSampler {
 public:
  explicit FakeSampler(const harness::ProgressSlot& slot) : slot_(slot) {}
  void start() override { calls.push_back({"start", slot_.batches.load()}); }
  GpuReadings stop() override {
    calls.push_back({"stop", slot_.batches.load()});
    GpuReading reading;
    reading.power_w = 50;
    return {{reading}, 80.0};
  }
  std::vector<std::pair<std::string, uint64_t>> calls;  // and after how many batches

 private:
  const harness::ProgressSlot& slot_;
};

TEST(Report, ADeviceIsReadDuringTheTimedBatches) {
  const harness::Row row = tiny_row();
  TinyRank tiny(row);
  FakeSampler sampler(tiny.slot);
  SliceParts parts = tiny.parts();
  EXPECT_FALSE(run_slice(parts).gpu);
  tiny.slot.batches = 0;
  parts.sampler = &sampler;
  const SliceResult result = run_slice(parts);
  const auto warmup = uint64_t(row.warmup_batches), timed = uint64_t(row.timed_batches);
  EXPECT_EQ(sampler.calls,
            (std::vector<std::pair<std::string, uint64_t>>{{"start", warmup}, {"stop", warmup + timed}}));
  const auto report = rank_report(parts, {}, result, {}, {});
  EXPECT_EQ(report.gpu->power_w->mean, 50.0);
  EXPECT_EQ(report.gpu->joules_per_image, 80.0 / double(row.batch * row.timed_batches));
}

TEST(Report, OnlyImagesDecodedDuringTheTimedBatchesCount) {
  for (const int64_t warmup : {0, 2}) {
    harness::Row row = tiny_row();
    row.warmup_batches = warmup;
    TinyRank tiny(row);
    LoaderAround loader(*tiny.loader);
    const SliceParts parts = tiny.parts_with(loader, *tiny.strategy);
    const auto report = rank_report(parts, {}, run_slice(parts), {}, {});
    EXPECT_EQ(harness::encode(report)["decoded"],
              nlohmann::json({{"jpeg_engine", 10}, {"cuda", 0}, {"cpu", 5}}));
  }
}

TEST(Report, ALossThatIsNotFiniteTravelsAndFailsItsCheck) {
  harness::Row row = tiny_row();
  row.learning_rate = 1e6;
  TinyRank tiny(row);
  const SliceResult result = run_slice(tiny.parts());
  ASSERT_FALSE(check_loss(result.loss, row.warmup_batches).ok) << "this rate should diverge";
  const auto report =
      rank_report(tiny.parts(), {}, result, {}, {check_loss(result.loss, row.warmup_batches)});
  const harness::Record merged = merged_texts(row, {harness::encode(report).dump()});
  EXPECT_FALSE(merged.checks.at(0).ok);
}

TEST(Checks, ALossThatIsNotFiniteIsNamedWithItsBatch) {
  const std::vector<double> loss{1.0, std::nan(""), 2.0};
  EXPECT_FALSE(check_loss(loss, 0).ok);
  EXPECT_EQ(check_loss(loss, 0).detail, "not finite in timed batch 1");
  EXPECT_EQ(check_loss(loss, 1).detail, "not finite in timed batch 0") << "as the record counts its losses";
  EXPECT_EQ(check_loss(loss, 2).detail, "not finite in warm-up batch 1");
}

TEST(Checks, ADeviceThatLeavesTheDecodingToTheCpuIsNoDecoder) {
  EXPECT_TRUE(check_decoder({0, 0, 0}, true).ok) << "all batches may have been ready before";
  EXPECT_TRUE(check_decoder({0, 500, 0}, false).ok);
  EXPECT_TRUE(check_decoder({0, 495, 5}, false).ok);
  const Check check = check_decoder({0, 494, 6}, false);
  EXPECT_FALSE(check.ok);
  EXPECT_NE(check.detail.find("of 500 images"), std::string::npos) << check.detail;
  EXPECT_NE(check.detail.find("the CPU 6: over 1 %"), std::string::npos) << check.detail;
}

TEST(Checks, AnEngineThatLeavesTheDecodingToTheMultiprocessorsIsNoEngine) {
  EXPECT_TRUE(check_decoder({450, 50, 0}, true).ok);
  EXPECT_TRUE(check_decoder({0, 500, 0}, false).ok) << "a GPU without an engine";
  const Check check = check_decoder({449, 51, 0}, true);
  EXPECT_FALSE(check.ok);
  EXPECT_NE(check.detail.find("the JPEG engine decoded 449"), std::string::npos) << check.detail;
  EXPECT_NE(check.detail.find("under 90 % by the engine"), std::string::npos) << check.detail;
}

}  // namespace bench::slice_test
