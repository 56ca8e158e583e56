// Seconds since it was made, by a clock that never jumps.
#pragma once
#include <chrono>

namespace base {

class Stopwatch {
 public:
  double s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
};

}  // namespace base
