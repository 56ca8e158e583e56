// The phases of a batch as ranges of a profiler that wants a range's name when it begins. The clock tells a
// phase's name when it ends, so that the name is the one that stood at this place in the batch before. No
// CUDA here.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/phase_clock.h"

namespace bench {

// A profiler's ranges: each ends by its number, in whichever thread.
class Ranges {
 public:
  virtual ~Ranges() = default;
  virtual uint64_t begin(const char* name) = 0;
  virtual void end(uint64_t range) = 0;
};

// At any time at most two ranges are open: "batch N", N counted from the first warm-up batch, and a phase in
// it; none after the last of `batches`. The first batch has no phases. Where the order of phases changes, one
// range carries the name of what was expected, and none is open until the order is known again. Calls as
// those of DeviceClock, one at a time.
class PhaseRanges {
 public:
  PhaseRanges(Ranges& ranges, int64_t batches);
  ~PhaseRanges() { end_all(); }
  PhaseRanges(const PhaseRanges&) = delete;
  PhaseRanges& operator=(const PhaseRanges&) = delete;

  void start();
  void close(Phase phase);
  void note_boundary();  // the first of several counts: a range that was begun can't be taken back
  void next_batch();

 private:
  void begin_batch();
  void go_on(std::optional<Phase> closed);  // ends the phase's range and begins the one that should follow
  std::optional<Phase> following() const;
  void end_phase();
  void end_all();

  Ranges& ranges_;
  const int64_t batches_;
  std::vector<Phase> before_, closed_;  // phases of the last batch and of this one, in their order
  std::optional<Phase> expected_;       // whose range is open
  std::optional<uint64_t> batch_range_, phase_range_;
  bool noted_ = false;
  std::optional<Phase> noted_phase_;  // what was expected then
  int64_t batch_ = 0;
};

}  // namespace bench
