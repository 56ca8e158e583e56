#include "bench/device/cuda_clock.h"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace bench {

constexpr int64_t kMarksPerBatch = 16;  // more than any strategy closes, with one noted early

CudaClock::CudaClock(int64_t batches) : ranges_(nvtx_, batches) {
  const int64_t marks = (batches + 1) * kMarksPerBatch;
  for (int64_t i = 0; i < marks; ++i) events_.emplace_back(cudaEventDefault);
  // By itself an event is made where it is first recorded: in a batch.
  for (at::cuda::CUDAEvent& event : events_) event.create(c10::cuda::current_device());
  marks_.reserve(size_t(marks));
}

size_t CudaClock::record() {
  if (next_ == events_.size()) events_.emplace_back(cudaEventDefault);
  events_[next_].record(c10::cuda::getCurrentCUDAStream());
  return next_++;
}

void CudaClock::start() {
  const std::lock_guard lock(mutex_);
  noted_.reset();
  marks_.push_back({batch_, -1, record()});
  ranges_.start();
}

void CudaClock::close(Phase phase) {
  const std::lock_guard lock(mutex_);
  const size_t event = noted_ ? *noted_ : record();
  noted_.reset();
  marks_.push_back({batch_, int(phase), event});
  ranges_.close(phase);
}

void CudaClock::note_boundary() {
  const std::lock_guard lock(mutex_);
  noted_ = record();
  ranges_.note_boundary();
}

void CudaClock::next_batch() {
  const std::lock_guard lock(mutex_);
  ++batch_;
  ranges_.next_batch();
}

std::vector<double> CudaClock::milliseconds(Phase phase, int64_t first, int64_t count) const {
  std::vector<double> values(size_t(count), 0.0);
  for (size_t i = 1; i < marks_.size(); ++i) {
    const Mark& mark = marks_[i];
    if (mark.phase != int(phase) || mark.batch < first || mark.batch >= first + count) continue;
    values[size_t(mark.batch - first)] += events_[marks_[i - 1].event].elapsed_time(events_[mark.event]);
  }
  return values;
}

}  // namespace bench
