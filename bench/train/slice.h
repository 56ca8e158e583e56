// One rank's training slice: warm-up batches, the timed window, and what is kept of it. One training step is
// train_step, here and wherever else one is measured.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/loading/loader/loader.h"
#include "bench/train/backend/group.h"
#include "bench/train/clock/phase_clock.h"
#include "bench/train/clock/spans.h"
#include "bench/train/device/device.h"
#include "bench/train/link/link.h"
#include "bench/train/precision/precision.h"
#include "bench/train/strategy/strategy.h"
#include "harness/contract/progress.h"
#include "harness/contract/row.h"

namespace bench {

class RecordedStep;
class Trace;

struct SliceParts {
  const harness::Row& row;
  Loader& loader;
  Device& device;
  ResNet& model;
  Precision& precision;
  Strategy& strategy;
  Group& group;
  Link& link;
  Spans& spans;  // registered before the slice; run_slice adds read, decode and communication
  harness::ProgressSlot& progress;
  RecordedStep* recorded = nullptr;  // of a row with cuda_graphs
  Trace* trace = nullptr;            // of --trace
  DeviceSampler* sampler = nullptr;  // of a row with gpu_sampling_ms

  SliceParts with(Loader& other) const {
    return {row, other, device, model, precision, strategy, group, link, spans, progress, recorded};
  }
};

struct SliceResult {
  SliceResult(int64_t batches, bool phase_clock, Device& device)
      : device_clock(phase_clock && device.accelerator() ? device.accelerator()->make_clock(batches)
                                                         : nullptr),
        clock(batches, phase_clock, device_clock.get()) {}
  std::unique_ptr<DeviceClock> device_clock;  // null where the host's clock is the device's
  PhaseClock clock;                           // all batches, warm-up included
  std::vector<double> loss;                   // per batch, this rank's mean
  // Bytes of this rank's collectives in the timed batches by kind, and the last batch's all-reduces.
  std::array<int64_t, 3> collective_bytes = {};
  std::vector<Traffic::Message> all_reduces;
  std::vector<Traffic::Event> collectives;  // all of the last batch
  std::optional<LinkBytes> link;            // what crossed this node's link during the timed batches
  std::optional<GpuReadings> gpu;           // what was read of this rank's GPUs meanwhile
  int64_t correct_top1 = 0, correct_top5 = 0, images = 0;  // timed batches only
  int ready_at_start = 0, ready_at_end = 0;  // complete batches in the ring at the window's edges
  double total_s = 0;  // the timed batches, from the barrier before to the barrier after them
};

// The training loop. Allocates nothing of its own inside the window.
SliceResult run_slice(const SliceParts& parts);

// What a step tells besides its times.
struct StepResult {
  at::Tensor metrics = {};  // of this rank: see metrics_of()
  int64_t images = 0;
  double read_ms = 0, decode_ms = 0;  // loader thread time spent on its images
};

// One training step on the loader's next batch: enters every phase, `load` first, and leaves the clock in
// `other`. With `read` the host waits for the metrics, which then lie in its memory; on a GPU it else runs
// ahead of the device.
StepResult train_step(const SliceParts& parts, PhaseClock& clock, bool read);

// Whether the host reads the loss of a batch, counted from 0: field `loss_every`.
inline bool reads_loss(const harness::Row& row, int64_t batch) { return (batch + 1) % row.loss_every == 0; }

// Gives the loader back what the device has copied, after it was synchronised: before another loader takes
// over.
void release_copied(const SliceParts& parts);

// For windows that start at the first batch: a few steps on a made-up batch without an update, so that the
// window shows the start-up of the loader and not the first touch of memory. `images`: of this rank in a
// batch.
void warm_model(const SliceParts& parts, int64_t images);

}  // namespace bench
