// The device clock for CUDA: records an event in the compute stream at every phase boundary, reads the times
// between neighbouring events after the timed window, and marks the phases as NVTX ranges for profilers.
#pragma once
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <nvtx3/nvToolsExt.h>

#include <deque>

#include "bench/train/clock/device_clock.h"
#include "bench/train/clock/phase_ranges.h"

namespace bench {

class CudaClock : public DeviceClock {
 public:
  // Uses NVTX start/end instead of push/pop ranges, because a phase may end in an autograd thread. Without an
  // attached tool each call costs a few nanoseconds.
  explicit CudaClock(size_t marks) : DeviceClock(marks), ranges_(nvtxRangeStartA, nvtxRangeEnd) {
    for (size_t i = 0; i < marks; ++i) events_.emplace_back(cudaEventDefault);
    // Creates the events now; otherwise they would be created at their first record(), within a batch.
    for (at::cuda::CUDAEvent& event : events_) event.create(c10::cuda::current_device());
  }
  void start() override {
    DeviceClock::start();
    ranges_.start();
  }
  void enter(Phase phase) override {
    DeviceClock::enter(phase);
    ranges_.enter(phase);
  }
  void next_batch() override {
    DeviceClock::next_batch();
    ranges_.next_batch();
  }

 private:
  void set_mark(size_t number) override {
    if (number == events_.size()) events_.emplace_back(cudaEventDefault);
    events_[number].record(c10::cuda::getCurrentCUDAStream());
  }
  double milliseconds_after(size_t number) const override {
    return events_[number].elapsed_time(events_[number + 1]);
  }

  // One event per mark, created in advance. A deque, so that adding more doesn't move recorded ones.
  std::deque<at::cuda::CUDAEvent> events_;
  PhaseRanges ranges_;
};

}  // namespace bench
