// One rank's training slice: warm-up batches, the timed window and its results. train_step() is the training
// step that all measurements use.
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
#include "harness/contract/cpu_time.h"
#include "harness/contract/progress.h"
#include "harness/contract/rank_report.h"
#include "harness/contract/row.h"

namespace bench {

class CacheProof;
class NeedlessWork;
class CapturedStep;
class Trace;

struct SliceParts {
  const harness::Row& row;
  Loader& loader;
  Device& device;
  Model& model;
  Precision& precision;
  Strategy& strategy;
  Group& group;
  const Link& link;
  Spans& spans;  // run_slice() adds read, decode and communication
  harness::ProgressSlot& progress;
  CapturedStep* recorded = nullptr;  // with cuda_graphs
  Trace* trace = nullptr;            // with --trace
  DeviceSampler* sampler = nullptr;  // with gpu_sampling_ms
  NeedlessWork* needless = nullptr;  // with needless or retain_graph
  CacheProof* cache = nullptr;       // null: nobody asks what each third of the window read

  SliceParts with(Loader& other) const {
    return {row,  other, device,   model,    precision, strategy, group,
            link, spans, progress, recorded, nullptr,   nullptr,  needless};
  }
};

struct SliceResult {
  SliceResult(const harness::Row& row, Device& device)
      : device_clock(
            row.phase_clock && device.accelerator()
                ? device.accelerator()->make_clock(size_t(row.warmup_batches + row.timed_batches + 1) *
                                                   most_phases(row.accumulation))
                : nullptr),
        clock(row.warmup_batches + row.timed_batches, row.phase_clock, device_clock.get()) {}
  std::unique_ptr<DeviceClock> device_clock;      // null for a synchronous device
  PhaseClock clock;                               // all batches, warm-up included
  std::vector<double> loss;                       // per batch, mean over this rank's images
  std::array<int64_t, 3> collective_bytes = {};   // of this rank in the timed batches, by Collective
  Traffic::Batch traffic;                         // of the last batch
  std::optional<LinkBytes> link;                  // bytes over this node's link in the timed batches
  std::optional<harness::RecordDecoded> decoded;  // on a device, or for it, during the timed batches
  std::optional<GpuReadings> gpu;                 // readings of this rank's GPUs in the timed batches
  harness::RankAnswers correct;                   // in the timed batches
  harness::RankReady ready;
  double total_s = 0;         // timed batches, between the barriers before and after
  harness::CpuTime cpu_time;  // of this process and its cores in the timed batches
};

// The training loop. Makes no allocations of its own in the timed window. Collective; rethrows errors of the
// loader.
SliceResult run_slice(const SliceParts& parts);

// Results of one step.
struct StepResult {
  at::Tensor metrics = {};  // of this rank, see metrics_of()
  int64_t images = 0;
  double read_ms = 0, decode_ms = 0;  // loader thread time for its images
};

// One training step on the loader's next batch: enters every phase from `load` to `other`. With `read` the
// host waits for the metrics and copies them to host memory; otherwise it runs ahead of a GPU.
StepResult train_step(const SliceParts& parts, PhaseClock& clock, bool read);

// Whether the host reads the loss of batch number `batch` (from 0): row field `loss_every`.
inline bool reads_loss(const harness::Row& row, int64_t batch) { return (batch + 1) % row.loss_every == 0; }

// Releases all copied batches to the loader. Call after synchronising the device, before using another
// loader.
void release_copied(const SliceParts& parts);

// For rows without warm-up batches: runs a few steps on random images without an update, so that the window
// includes the loader's start-up but not first memory allocations. images: this rank's batch size.
void warm_model(const SliceParts& parts, int64_t images);

}  // namespace bench
