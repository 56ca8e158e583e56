// The phase clock: exclusive host intervals with shared boundaries. bench/README.md defines what each phase
// holds.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/device/device_clock.h"

namespace bench {

enum class Phase {
  load,
  h2d,
  scatter,
  broadcast,
  forward,
  gather,
  loss,
  backward,
  reduce,
  sync,
  step,
  other
};
inline constexpr std::array<std::string_view, 12> kPhaseNames = {"load",    "h2d",    "scatter", "broadcast",
                                                                 "forward", "gather", "loss",    "backward",
                                                                 "reduce",  "sync",   "step",    "other"};

class PhaseClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Interval {
    Phase phase;
    Time begin, end;
  };

  // Room for that many batches is taken here; the loop allocates nothing. Disabled, close() costs a branch.
  // `device`, where there is one, is told of the same boundaries.
  PhaseClock(int64_t batches, bool enabled, DeviceClock* device = nullptr);

  void start();  // the first boundary; again where the window opens
  void close(Phase phase) {
    if (enabled_) close_at(phase, std::chrono::steady_clock::now());
  }
  // For an end that is not now. Never earlier than the last boundary.
  void close_at(Phase phase, Time end);
  void next_batch();  // what is left since the last boundary goes to `other`

  // The end of the phase that close_noted() names next: from any thread, e.g. in a gradient hook, before that
  // call.
  void note_boundary();
  void close_noted(Phase phase) { close_at(phase, noted_); }

  int64_t finished_batches() const { return batch_; }
  Time last_boundary() const { return last_; }
  bool enabled() const { return enabled_; }
  // The last finished batch as it lay in time, until the first close() of the next one.
  std::vector<Interval> last_batch() const { return {intervals_.begin(), intervals_.begin() + last_closed_}; }
  // Milliseconds of that phase in each batch from `first` on.
  std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const;
  double calls_per_batch() const { return batch_ ? double(calls_) / double(batch_) : 0; }
  // Measured now, outside any slice: nanoseconds that one close() takes.
  static double nanoseconds_per_call();

 private:
  static constexpr int kMostIntervals = 32;  // remembered of a batch; more than any strategy closes
  std::vector<std::array<int64_t, kPhaseNames.size()>> nanoseconds_;  // [batch][phase]
  std::array<Interval, kMostIntervals> intervals_ = {};               // of the batch under way
  int closed_ = 0, last_closed_ = 0;                                  // intervals of it, and of the last one
  Time last_, noted_;
  int64_t batch_ = 0;
  int64_t calls_ = 0;
  bool enabled_;
  DeviceClock* device_;
};

}  // namespace bench
