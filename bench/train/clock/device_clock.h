// The phase clock of an asynchronous device: when the device has executed the work of each phase.
#pragma once
#include <cstdint>
#include <vector>

#include "harness/contract/phases.h"

namespace bench {

using harness::Phase;

// Enqueues marks (e.g. CUDA events) that are read after the slice, so no call waits for the device. The
// device time of a phase is the time from its mark to the next one, including idle time. Called by
// PhaseClock, from a thread that uses the same queue (current stream).
class DeviceClock {
 public:
  virtual ~DeviceClock() = default;
  virtual void start() = 0;  // sets the first mark; called again when the timed window starts
  // On the device the phase starts after all work enqueued so far; a batch's first phase starts at the
  // batch's mark.
  virtual void enter(Phase phase) = 0;
  virtual void next_batch() = 0;
  // Milliseconds of the phase per batch, from batch `first`. Call after synchronising the device.
  virtual std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const = 0;
};

}  // namespace bench
