// The device clock for CUDA: records an event in the compute stream at every phase boundary, and marks the
// phases as NVTX ranges for profilers.
#pragma once
#include <ATen/cuda/CUDAEvent.h>

#include <deque>

#include "bench/train/clock/marked_clock.h"
#include "bench/train/clock/phase_ranges.h"

namespace bench {

class CudaClock : public MarkedClock {
 public:
  explicit CudaClock(int64_t batches);
  void start() override;
  void enter(Phase phase) override;
  void next_batch() override;

 private:
  void set_mark(size_t number) override;
  double milliseconds_after(size_t number) const override;

  // One event per mark, created in advance. A deque, so that adding more doesn't move recorded ones.
  std::deque<at::cuda::CUDAEvent> events_;
  PhaseRanges ranges_;
};

}  // namespace bench
