// The device clock for CUDA: records an event in the compute stream at every phase boundary, and marks the
// phases as NVTX ranges for profilers.
#pragma once
#include <ATen/cuda/CUDAEvent.h>

#include <deque>
#include <optional>

#include "bench/train/clock/device_clock.h"
#include "bench/train/clock/phase_clock.h"
#include "bench/train/clock/phase_ranges.h"

namespace bench {

class CudaClock : public DeviceClock {
 public:
  explicit CudaClock(int64_t batches);
  void start() override;
  void enter(Phase phase) override;
  void next_batch() override;
  std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const override;

 private:
  struct Mark {
    int64_t batch;
    std::optional<Phase> phase;  // starts here; empty: the time until the next mark isn't counted
  };
  void mark();

  // One event per mark, created in advance. A deque, so that adding more doesn't move recorded ones.
  std::deque<at::cuda::CUDAEvent> events_;
  std::vector<Mark> marks_;
  int64_t batch_ = 0;
  PhaseRanges ranges_;
};

}  // namespace bench
