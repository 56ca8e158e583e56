// Adds up the nanoseconds of each phase in a table that is allocated before the first batch.
#include "bench/train/clock/phase_clock.h"

#include <algorithm>
#include <utility>

namespace bench {

PhaseClock::PhaseClock(int64_t batches, bool enabled, DeviceClock* device)
    : nanoseconds_(batches), enabled_(enabled), device_(device) {}

void PhaseClock::start() {
  last_ = std::chrono::steady_clock::now();
  phase_.reset();
  intervals_.clear();
  if (device_ && enabled_) device_->start();
}

void PhaseClock::enter_at(Phase phase, Time begin) {
  if (!enabled_ || batch_ == int64_t(nanoseconds_.size())) return;
  if (phase_) end_phase(begin);
  phase_ = phase;
  if (device_) device_->enter(phase);
}

void PhaseClock::next_batch() {
  if (enabled_) {
    if (!phase_) enter(Phase::other);
    end_phase(std::chrono::steady_clock::now());
    phase_.reset();
    std::swap(intervals_, last_intervals_);
    intervals_.clear();
    if (device_) device_->next_batch();
  }
  ++batch_;
}

void PhaseClock::end_phase(Time end) {
  end = std::max(end, last_);
  nanoseconds_[batch_][int(*phase_)] += std::chrono::nanoseconds(end - last_).count();
  intervals_.push_back({*phase_, last_, end});
  last_ = end;
  ++calls_;
}

std::vector<double> PhaseClock::milliseconds(Phase phase, int64_t first, int64_t count) const {
  std::vector<double> values;
  values.reserve(count);
  for (int64_t batch = first; batch < first + count; ++batch)
    values.push_back(double(nanoseconds_[batch][int(phase)]) / 1e6);  // prints shorter than * 1e-6
  return values;
}

double PhaseClock::nanoseconds_per_call() {
  constexpr int calls = 100000;
  PhaseClock clock(1, true);
  clock.start();
  clock.enter(Phase::other);  // a batch's first phase adds no boundary
  const Time begin = clock.last_boundary();
  for (int i = 0; i < calls; ++i) {
    clock.enter(Phase::other);
    clock.intervals_.clear();  // no batch has so many phases that their memory leaves the caches
  }
  return std::chrono::duration<double, std::nano>(clock.last_boundary() - begin).count() / calls;
}

}  // namespace bench
