// Sums the times between neighbouring marks by phase and batch.
#include "bench/train/clock/marked_clock.h"

namespace bench {

constexpr int64_t kMarksPerBatch = 16;  // more than any strategy has phases

size_t MarkedClock::marks_of(int64_t batches) { return size_t((batches + 1) * kMarksPerBatch); }

MarkedClock::MarkedClock(int64_t batches) { marks_.reserve(marks_of(batches)); }

void MarkedClock::mark() {
  set_mark(marks_.size());
  marks_.push_back({batch_, std::nullopt});
}

void MarkedClock::start() {
  if (!marks_.empty()) marks_.back().phase.reset();  // before the timed window
  mark();
}

void MarkedClock::enter(Phase phase) {
  if (marks_.back().phase) mark();
  marks_.back().phase = phase;
}

void MarkedClock::next_batch() {
  ++batch_;
  mark();
}

std::vector<double> MarkedClock::milliseconds(Phase phase, int64_t first, int64_t count) const {
  std::vector<double> values(size_t(count), 0.0);
  for (size_t i = 0; i + 1 < marks_.size(); ++i) {
    const Mark& mark = marks_[i];
    if (mark.phase != phase || mark.batch < first || mark.batch >= first + count) continue;
    values[size_t(mark.batch - first)] += milliseconds_after(i);
  }
  return values;
}

}  // namespace bench
