// The phase clock: exclusive host intervals with shared boundaries (monotonic clock). bench/README.md defines
// the phases.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/train/clock/device_clock.h"

namespace bench {

using harness::kPhaseNames;

// The most phases that a batch of training steps enters: load, h2d, load, step, other and, while it is
// traced, one more; of every micro-batch scatter, broadcast, forward, gather, loss, backward, and reduce or
// sync.
constexpr size_t most_phases(int64_t micro_batches) { return 6 + 7 * size_t(micro_batches); }

// Not thread-safe: call it from the training thread, or from a gradient hook in the thread that runs backward
// while the training thread waits.
class PhaseClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Interval {
    Phase phase;
    Time begin, end;
  };

  // Allocates memory for `batches` batches; that for the intervals of a batch grows in the first two, so the
  // loop allocates nothing after them. If not enabled, enter() costs one branch. Boundaries are forwarded to
  // `device` if it isn't null (not owned).
  PhaseClock(int64_t batches, bool enabled, DeviceClock* device = nullptr);

  void start();  // starts a batch now; call it again when the timed window starts
  // Ends the current phase and begins another. A batch's first phase starts with the batch. Ignored after the
  // last batch.
  void enter(Phase phase) {
    if (enabled_) enter_at(phase, std::chrono::steady_clock::now());
  }
  // The same with a given boundary time, clamped to the last boundary.
  void enter_at(Phase phase, Time begin);
  void next_batch();  // ends the batch and its last phase

  Time last_boundary() const { return last_; }
  bool enabled() const { return enabled_; }
  // Intervals of the last finished batch; valid until the next one ends.
  const std::vector<Interval>& last_batch() const { return last_intervals_; }
  // Milliseconds of the phase per batch, from batch `first`.
  std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const;
  // Mean number of phase boundaries per batch, including the batch's end.
  double calls_per_batch() const { return batch_ ? double(calls_) / double(batch_) : 0; }
  // Measures the cost of one enter() in ns. Don't call it during a slice.
  static double nanoseconds_per_call();

 private:
  void end_phase(Time end);

  std::vector<std::array<int64_t, kPhaseNames.size()>> nanoseconds_;  // [batch][phase]
  std::vector<Interval> intervals_, last_intervals_;                  // of the current and the last batch
  std::optional<Phase> phase_;  // current phase; empty between a batch's start and its first enter()
  Time last_;
  int64_t batch_ = 0;
  int64_t calls_ = 0;
  bool enabled_;
  DeviceClock* device_;
};

}  // namespace bench
