// The phase clock's second face: when a device that runs behind the host has done what each phase gave it.
#pragma once
#include <cstdint>
#include <vector>

namespace bench {

enum class Phase;

// Marks are left in the device's queue and read after the slice: nothing here waits for the device. The time
// of a phase on the device is that between its mark and the one before it, idle time included. Calls come
// from the training thread, but for note_boundary().
class DeviceClock {
 public:
  virtual ~DeviceClock() = default;
  virtual void start() = 0;  // the first mark; again where the window opens
  virtual void close(
      Phase phase) = 0;  // the phase ends for the device with what it has been given up to here
  // The end of the phase that close() names next, from any thread that gives work to the same queue, e.g. a
  // hook.
  virtual void note_boundary() = 0;
  virtual void next_batch() = 0;
  // After synchronising: milliseconds of that phase in each batch from `first` on.
  virtual std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const = 0;
};

}  // namespace bench
