// The device clock of an emulated device: where the computing stream's timeline stood at every boundary.
#pragma once
#include <algorithm>
#include <vector>

#include "bench/train/clock/marked_clock.h"
#include "bench/train/emulated/machine.h"

namespace bench::emulated {

class Clock : public MarkedClock {
 public:
  explicit Clock(int64_t batches) : MarkedClock(batches) { marks_.reserve(marks_of(batches)); }
  // Ranks have just left a barrier, and what came before is not timed: the virtual clock joins the real one.
  void start() override {
    machine().timelines.begin_again();
    MarkedClock::start();
  }

 private:
  void set_mark(size_t) override {
    // An idle stream's event stands where the host records it.
    const Timelines& timelines = machine().timelines;
    const int device = current_device();
    marks_.push_back(std::max(timelines.tail(device, current_stream()), timelines.host(device)));
  }
  double milliseconds_after(size_t number) const override {
    return double(marks_[number + 1] - marks_[number]) * 1e-6;
  }
  std::vector<Nanoseconds> marks_;
};

}  // namespace bench::emulated
