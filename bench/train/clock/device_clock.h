// The phase clock's second face: when a device that runs behind the host has done what each phase gave it.
#pragma once
#include <cstdint>
#include <vector>

#include "harness/contract/phases.h"

namespace bench {

using harness::Phase;

// Marks are left in the device's queue and read after the slice: nothing here waits for the device. The time
// of a phase on the device is that between its mark and the next one, idle time included. Calls are those of
// PhaseClock, from a thread that gives work to the same queue.
class DeviceClock {
 public:
  virtual ~DeviceClock() = default;
  virtual void start() = 0;  // the first mark; again where the window opens
  // The phase begins for the device after what it has been given up to here; the first phase of a batch at
  // the batch's own mark.
  virtual void enter(Phase phase) = 0;
  virtual void next_batch() = 0;
  // After synchronising: milliseconds of that phase in each batch from `first` on.
  virtual std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const = 0;
};

}  // namespace bench
