#include "bench/train/cuda/clock.h"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <nvtx3/nvToolsExt.h>

namespace bench {

constexpr int64_t kMarksPerBatch = 16;  // more than any strategy has phases

// Uses NVTX start/end instead of push/pop ranges, because a phase may end in an autograd thread. Without an
// attached tool each call costs a few nanoseconds.
CudaClock::CudaClock(int64_t batches) : ranges_(nvtxRangeStartA, nvtxRangeEnd) {
  const int64_t marks = (batches + 1) * kMarksPerBatch;
  for (int64_t i = 0; i < marks; ++i) events_.emplace_back(cudaEventDefault);
  // Creates the events now; otherwise they would be created at their first record(), within a batch.
  for (at::cuda::CUDAEvent& event : events_) event.create(c10::cuda::current_device());
  marks_.reserve(size_t(marks));
}

void CudaClock::mark() {
  if (marks_.size() == events_.size()) events_.emplace_back(cudaEventDefault);
  events_[marks_.size()].record(c10::cuda::getCurrentCUDAStream());
  marks_.push_back({batch_, std::nullopt});
}

void CudaClock::start() {
  if (!marks_.empty()) marks_.back().phase.reset();  // before the timed window
  mark();
  ranges_.start();
}

void CudaClock::enter(Phase phase) {
  if (marks_.back().phase) mark();
  marks_.back().phase = phase;
  ranges_.enter(phase);
}

void CudaClock::next_batch() {
  ++batch_;
  mark();
  ranges_.next_batch();
}

std::vector<double> CudaClock::milliseconds(Phase phase, int64_t first, int64_t count) const {
  std::vector<double> values(size_t(count), 0.0);
  for (size_t i = 0; i + 1 < marks_.size(); ++i) {
    const Mark& mark = marks_[i];
    if (mark.phase != phase || mark.batch < first || mark.batch >= first + count) continue;
    values[size_t(mark.batch - first)] += events_[i].elapsed_time(events_[i + 1]);
  }
  return values;
}

}  // namespace bench
