// The phase clock: exclusive host intervals with shared boundaries. bench/README.md defines what each phase
// holds.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/train/clock/device_clock.h"

namespace bench {

using harness::kPhaseNames;

// Calls come one at a time: from the training thread, or from a gradient hook in whichever thread runs
// backward, for which the training thread waits.
class PhaseClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Interval {
    Phase phase;
    Time begin, end;
  };

  // Room for that many batches is taken here; the loop allocates nothing. Disabled, enter() costs a branch.
  // `device`, where there is one, is told of the same boundaries.
  PhaseClock(int64_t batches, bool enabled, DeviceClock* device = nullptr);

  void start();  // the first batch begins now; again where the window opens, between two batches
  // Begins a phase and ends the one before. A batch's first phase has begun with the batch. After the last
  // batch nothing is kept.
  void enter(Phase phase) {
    if (enabled_) enter_at(phase, std::chrono::steady_clock::now());
  }
  // For a boundary that is not now. Never earlier than the last one.
  void enter_at(Phase phase, Time begin);
  void next_batch();  // ends the batch and its last phase; the next batch begins

  int64_t finished_batches() const { return batch_; }
  Time last_boundary() const { return last_; }
  bool enabled() const { return enabled_; }
  // The last finished batch as it lay in time, until the second enter() of the next one.
  std::vector<Interval> last_batch() const { return {intervals_.begin(), intervals_.begin() + last_ended_}; }
  // Milliseconds of that phase in each batch from `first` on.
  std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const;
  // Boundaries between phases, the batch's end included.
  double calls_per_batch() const { return batch_ ? double(calls_) / double(batch_) : 0; }
  // Measured now, outside any slice: nanoseconds that one enter() takes.
  static double nanoseconds_per_call();

 private:
  void end_phase(Time end);

  static constexpr int kMostIntervals = 32;  // remembered of a batch; more than any strategy enters
  std::vector<std::array<int64_t, kPhaseNames.size()>> nanoseconds_;  // [batch][phase]
  std::array<Interval, kMostIntervals> intervals_ = {};               // of the batch under way
  int ended_ = 0, last_ended_ = 0;                                    // intervals of it, and of the last one
  std::optional<Phase> phase_;  // under way; none where a batch has begun and nobody has said with what
  Time last_;
  int64_t batch_ = 0;
  int64_t calls_ = 0;
  bool enabled_;
  DeviceClock* device_;
};

}  // namespace bench
