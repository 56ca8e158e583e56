// The phase clock of an asynchronous device: when the device has executed the work of each phase.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/contract/phases.h"

namespace bench {

using harness::Phase;

// Enqueues numbered marks (e.g. CUDA events) that are read after the slice, so no call waits for the device.
// The device time of a phase is the time from its mark to the next one, including idle time. A device only
// sets marks and reads them. Called by PhaseClock, from a thread that uses the same queue (current stream).
class DeviceClock {
 public:
  virtual ~DeviceClock() = default;
  virtual void start();  // sets the first mark; called again when the timed window starts
  // On the device the phase starts after all work enqueued so far; a batch's first phase starts at the
  // batch's mark.
  virtual void enter(Phase phase);
  virtual void next_batch();
  // Milliseconds of the phase per batch, from batch `first`. Call after synchronising the device.
  std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const;

 protected:
  // marks: how many it makes room for. A device that allocates them does so before the slice.
  explicit DeviceClock(size_t marks) { marks_.reserve(marks); }

 private:
  // The device reaches mark `number` after all work enqueued so far. Called for 0, 1, 2, ...
  virtual void set_mark(size_t number) = 0;
  // From mark `number` to the next. Called after synchronising the device.
  virtual double milliseconds_after(size_t number) const = 0;

  struct Mark {
    int64_t batch;
    std::optional<Phase> phase;  // starts here; empty: the time until the next mark isn't counted
  };
  void mark();

  std::vector<Mark> marks_;
  int64_t batch_ = 0;
};

}  // namespace bench
