// Sums the times between neighbouring marks by phase and batch.
#include "bench/train/clock/device_clock.h"

namespace bench {

void DeviceClock::mark() {
  set_mark(marks_.size());
  marks_.push_back({batch_, std::nullopt});
}

void DeviceClock::start() {
  if (!marks_.empty()) marks_.back().phase.reset();  // before the timed window
  mark();
}

void DeviceClock::enter(Phase phase) {
  if (marks_.back().phase) mark();
  marks_.back().phase = phase;
}

void DeviceClock::next_batch() {
  ++batch_;
  mark();
}

std::vector<double> DeviceClock::milliseconds(Phase phase, int64_t first, int64_t count) const {
  std::vector<double> values(size_t(count), 0.0);
  for (size_t i = 0; i + 1 < marks_.size(); ++i) {
    const Mark& mark = marks_[i];
    if (mark.phase != phase || mark.batch < first || mark.batch >= first + count) continue;
    values[size_t(mark.batch - first)] += milliseconds_after(i);
  }
  return values;
}

}  // namespace bench
