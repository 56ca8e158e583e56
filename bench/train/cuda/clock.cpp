// Creates all events in advance and reads the times between neighbouring events after the timed window.
#include "bench/train/cuda/clock.h"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <nvtx3/nvToolsExt.h>

namespace bench {

// Uses NVTX start/end instead of push/pop ranges, because a phase may end in an autograd thread. Without an
// attached tool each call costs a few nanoseconds.
CudaClock::CudaClock(int64_t batches) : MarkedClock(batches), ranges_(nvtxRangeStartA, nvtxRangeEnd) {
  for (size_t i = 0; i < marks_of(batches); ++i) events_.emplace_back(cudaEventDefault);
  // Creates the events now; otherwise they would be created at their first record(), within a batch.
  for (at::cuda::CUDAEvent& event : events_) event.create(c10::cuda::current_device());
}

void CudaClock::set_mark(size_t number) {
  if (number == events_.size()) events_.emplace_back(cudaEventDefault);
  events_[number].record(c10::cuda::getCurrentCUDAStream());
}

double CudaClock::milliseconds_after(size_t number) const {
  return events_[number].elapsed_time(events_[number + 1]);
}

void CudaClock::start() {
  MarkedClock::start();
  ranges_.start();
}

void CudaClock::enter(Phase phase) {
  MarkedClock::enter(phase);
  ranges_.enter(phase);
}

void CudaClock::next_batch() {
  MarkedClock::next_batch();
  ranges_.next_batch();
}

}  // namespace bench
