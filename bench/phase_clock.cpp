#include "bench/phase_clock.h"

#include <algorithm>
#include <utility>

namespace bench {

PhaseClock::PhaseClock(int64_t batches, bool enabled, DeviceClock* device)
    : nanoseconds_(batches), enabled_(enabled), device_(device) {}

void PhaseClock::start() {
  last_ = std::chrono::steady_clock::now();
  closed_ = 0;
  if (device_ && enabled_) device_->start();
}

void PhaseClock::close_at(Phase phase, Time end) {
  if (!enabled_) return;
  end = std::max(end, last_);
  nanoseconds_[batch_][int(phase)] += std::chrono::nanoseconds(end - last_).count();
  if (closed_ < kMostIntervals) intervals_[closed_++] = {phase, last_, end};
  last_ = end;
  ++calls_;
  if (device_) device_->close(phase);
}

void PhaseClock::note_boundary() {
  if (!enabled_) return;
  noted_ = std::chrono::steady_clock::now();
  if (device_) device_->note_boundary();
}

void PhaseClock::next_batch() {
  close(Phase::other);
  last_closed_ = std::exchange(closed_, 0);
  ++batch_;
  if (device_ && enabled_) device_->next_batch();
}

std::vector<double> PhaseClock::milliseconds(Phase phase, int64_t first, int64_t count) const {
  std::vector<double> values;
  values.reserve(count);
  for (int64_t batch = first; batch < first + count; ++batch)
    values.push_back(double(nanoseconds_[batch][int(phase)]) / 1e6);  // not times 1e-6: prints shorter
  return values;
}

double PhaseClock::nanoseconds_per_call() {
  constexpr int calls = 100000;
  PhaseClock clock(1, true);
  clock.start();
  const Time begin = clock.last_boundary();
  for (int i = 0; i < calls; ++i) clock.close(Phase::other);
  return std::chrono::duration<double, std::nano>(clock.last_boundary() - begin).count() / calls;
}

}  // namespace bench
