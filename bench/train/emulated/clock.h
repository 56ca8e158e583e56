// The device clock of an emulated device: where the computing stream's timeline stood at every boundary.
#pragma once
#include <optional>

#include "bench/train/clock/device_clock.h"
#include "bench/train/emulated/machine.h"

namespace bench::emulated {

class Clock : public DeviceClock {
 public:
  explicit Clock(int64_t batches) { marks_.reserve(size_t(batches + 1) * 16); }
  // Ranks have just left a barrier, and what came before is not timed: the virtual clock joins the real one.
  void start() override {
    machine().timelines.begin_again();
    if (!marks_.empty()) marks_.back().phase.reset();  // it lies before the window
    mark();
  }
  void enter(Phase phase) override {
    if (marks_.back().phase) mark();
    marks_.back().phase = phase;
  }
  void next_batch() override {
    ++batch_;
    mark();
  }
  std::vector<double> milliseconds(Phase phase, int64_t first, int64_t count) const override {
    std::vector<double> values(size_t(count), 0.0);
    for (size_t i = 0; i + 1 < marks_.size(); ++i) {
      const Mark& mark = marks_[i];
      if (mark.phase == phase && mark.batch >= first && mark.batch < first + count)
        values[size_t(mark.batch - first)] += double(marks_[i + 1].at - mark.at) * 1e-6;
    }
    return values;
  }

 private:
  struct Mark {
    int64_t batch;
    Nanoseconds at;
    std::optional<Phase> phase;  // that begins here; none: what follows isn't counted
  };
  void mark() {
    // An idle stream's event stands where the host records it.
    const Timelines& timelines = machine().timelines;
    const int device = current_device();
    marks_.push_back(
        {batch_, std::max(timelines.tail(device, current_stream()), timelines.host(device)), {}});
  }
  std::vector<Mark> marks_;
  int64_t batch_ = 0;
};

}  // namespace bench::emulated
