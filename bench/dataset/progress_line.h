// How far a long job is, on stderr: one line that is rewritten on a terminal, else a plain line every few
// seconds.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace bench {

class ProgressLine {
 public:
  ProgressLine(std::string what, int64_t total);
  ~ProgressLine();  // ends the line
  // For one thread. Cheap enough to call for every image.
  void update(int64_t done, int64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  int64_t total_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace bench
