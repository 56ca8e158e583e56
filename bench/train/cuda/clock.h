// The device clock of CUDA: an event at every boundary, in the stream that computes. A profiler is told of
// the same boundaries, as NVTX ranges.
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
    std::optional<Phase> phase;  // that begins here; none: what follows isn't counted
  };
  void mark();

  // An event for each mark. Made beforehand; should there be more, none that is recorded moves.
  std::deque<at::cuda::CUDAEvent> events_;
  std::vector<Mark> marks_;
  int64_t batch_ = 0;
  PhaseRanges ranges_;
};

}  // namespace bench
