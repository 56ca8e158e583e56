// The device clock of CUDA: an event at every boundary, in the stream that computes. A profiler is told of
// the same boundaries, as NVTX ranges.
#pragma once
#include <ATen/cuda/CUDAEvent.h>

#include <deque>
#include <mutex>
#include <optional>

#include "bench/device/cuda_ranges.h"
#include "bench/device/device_clock.h"
#include "bench/phase_clock.h"

namespace bench {

class CudaClock : public DeviceClock {
 public:
  explicit CudaClock(int64_t batches);
  void start() override;
  void close(Phase phase) override;
  void note_boundary() override;
  void next_batch() override;
  std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const override;

 private:
  struct Mark {
    int64_t batch;
    int phase;  // -1: a start, where nothing ends
    size_t event;
  };
  size_t record();

  std::deque<at::cuda::CUDAEvent> events_;  // made beforehand; should it grow, none that is recorded moves
  std::vector<Mark> marks_;
  std::mutex mutex_;  // note_boundary() comes from other threads
  size_t next_ = 0;
  std::optional<size_t> noted_;
  int64_t batch_ = 0;
  CudaRanges nvtx_;
  PhaseRanges ranges_;
};

}  // namespace bench
