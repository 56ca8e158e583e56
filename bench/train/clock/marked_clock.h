// A device clock made of numbered marks: one at every phase boundary. A device only sets marks and reads
// them.
#pragma once
#include <optional>

#include "bench/train/clock/device_clock.h"

namespace bench {

class MarkedClock : public DeviceClock {
 public:
  void start() override;
  void enter(Phase phase) override;
  void next_batch() override;
  std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const override;

 protected:
  explicit MarkedClock(int64_t batches);
  // Marks that this many batches need: a device that allocates them does so before the slice.
  static size_t marks_of(int64_t batches);

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
