// Steps of a program without the probe: a line that it prints is the end of a step (--step-line).
#pragma once
#include <chrono>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "harness/own_job/probe_report.h"

namespace harness {

class StepLines {
 public:
  // `output`: file that the job prints to; `pattern`: found in one line a step (ECMAScript's expressions).
  // Throws std::regex_error.
  StepLines(const std::filesystem::path& output, const std::string& pattern)
      : output_(output), pattern_(pattern) {}

  // Reads new lines. Call often: a line's time is that of the call. Returns how many steps there were.
  int64_t poll();
  // One segment, as from the probe, of the `steps` after the first `warmup`; an item is a step. Without half
  // of them, or where lines come in bursts, the report has no segment and says why.
  ProbeReport report(int64_t warmup, int64_t steps) const;

 private:
  using Clock = std::chrono::steady_clock;
  const std::filesystem::path output_;
  const std::regex pattern_;
  std::streamoff read_ = 0;
  std::string rest_;  // an unfinished line
  std::vector<Clock::time_point> ends_;
};

}  // namespace harness
