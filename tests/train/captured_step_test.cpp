// train: a recorded and replayed step equals the normal step, phase by phase; tested with a fake device that
// records calls and repeats them, as a CUDA graph does with GPU work.
#include "bench/train/captured_step.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/device_around.h"
#include "tests/support/failure_of.h"

namespace bench::captured_step_test {

class Tape : public Recording {
 public:
  explicit Tape(int& replays) : replays_(replays) {}
  void record(const std::function<void()>& work) override { work_ = work; }
  void replay() override {
    work_();
    ++replays_;
  }

 private:
  std::function<void()> work_;
  int& replays_;
};

class RecordingDevice : public DeviceAround {
 public:
  using DeviceAround::DeviceAround;
  std::unique_ptr<Recording> make_recording() override { return std::make_unique<Tape>(replays); }
  int replays = 0;
};

// A rank whose steps are recorded.
struct Replayed {
  explicit Replayed(const harness::Row& row)
      : rank(row), device(*rank.device), step(parts_on(device, rank, *rank.loader)) {}
  SliceResult run() {
    SliceParts recorded = parts_on(device, rank, *rank.loader);
    recorded.recorded = &step;
    return run_slice(recorded);
  }
  TinyRank rank;
  RecordingDevice device;
  CapturedStep step;
};

TEST(CapturedStep, TrainsAsTheStepThatWasRecorded) {
  for (const char* precision : {"o0", "o2", "bf16"}) {
    harness::Row row = tiny_row();
    row.precision = precision;
    row.warmup_batches = 2;
    row.timed_batches = 6;
    TinyRank plain(row);
    Replayed replayed(row);
    const SliceResult expected = run_slice(plain.parts()), found = replayed.run();
    EXPECT_EQ(found.loss, expected.loss) << precision;
    EXPECT_EQ(found.correct.top5, expected.correct.top5);
    EXPECT_EQ(replayed.device.replays, 4 * 5) << "three of the eight steps run without recording";
    EXPECT_EQ(replayed.step.recordings(), 1);
    for (const Phase phase : {Phase::forward, Phase::loss, Phase::backward, Phase::step}) {
      const auto ms = found.clock.milliseconds(phase, row.warmup_batches, row.timed_batches);
      EXPECT_GT(std::accumulate(ms.begin(), ms.end(), 0.0), 0) << kPhaseNames[size_t(phase)];
    }
  }
}

TEST(CapturedStep, KeepsMetricsThatAreReadLater) {
  harness::Row row = tiny_row();
  row.loss_every = 100;
  row.timed_batches = 6;
  TinyRank plain(row);
  EXPECT_EQ(Replayed(row).run().loss, run_slice(plain.parts()).loss);
}

TEST(CapturedStep, ADeviceWithoutRecordingIsRefused) {
  const harness::Row row = tiny_row();
  TinyRank rank(row);
  SliceParts parts = rank.parts();
  CapturedStep step(parts);
  parts.recorded = &step;
  EXPECT_EQ(failure_of([&] { run_slice(parts); }),
            "cuda_graphs: device cpu doesn't support recording; set cuda_graphs=false");
}

}  // namespace bench::captured_step_test
