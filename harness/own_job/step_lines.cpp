// Notes when each line came, and tells bursts, in which steps have no time of their own.
#include "harness/own_job/step_lines.h"

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "harness/base/plain_text.h"

namespace harness {

int64_t StepLines::poll() {
  std::ifstream input(output_, std::ios::binary);
  input.seekg(read_);
  const std::string text((std::istreambuf_iterator<char>(input)), {});
  read_ += std::streamoff(text.size());
  rest_ += text;
  const Clock::time_point now = Clock::now();
  size_t begin = 0;
  for (size_t end; (end = rest_.find_first_of("\n\r", begin)) != std::string::npos; begin = end + 1)
    if (std::regex_search(rest_.substr(begin, end - begin), pattern_)) ends_.push_back(now);
  rest_.erase(0, begin);
  constexpr size_t kLongestLine = 1 << 16;
  if (rest_.size() > kLongestLine) rest_.clear();
  return int64_t(ends_.size());
}

ProbeReport StepLines::report(int64_t warmup, int64_t steps) const {
  constexpr size_t kLargestBurst = 4;  // lines with one time, on average
  ProbeReport report;
  ProbeRank rank;
  rank.iterations = int64_t(ends_.size());
  rank.end = "done";
  ProbeSegment segment;
  segment.settled = warmup;
  std::set<Clock::time_point> times;
  for (size_t i = size_t(std::max<int64_t>(1, warmup)); i < ends_.size(); ++i) {
    times.insert(ends_[i]);
    ProbeStep step;
    step.wall_ms = step.other_ms = std::chrono::duration<double, std::milli>(ends_[i] - ends_[i - 1]).count();
    segment.steps.push_back(step);
  }
  segment.items = segment.updates = int64_t(segment.steps.size());
  if (ends_.empty())
    report.why_not = "no line that it printed matches --step-line";
  else if (segment.items < std::max<int64_t>(1, steps / 2))
    report.why_not = fmt::format("it printed {} of steps, of which {} were to be timed after the first {}",
                                 base::counted(int64_t(ends_.size()), "line"), steps, warmup);
  else if (times.size() < 2 || times.size() * kLargestBurst < segment.steps.size())
    report.why_not = fmt::format(
        "{} lines of steps came at {} times, so that a step has no time of its own: let the program flush after "
        "each line, or print one of every N",
        segment.steps.size(), times.size());
  else
    rank.segments.push_back(segment);
  if (!report.why_not.empty()) rank.end = "exit";
  report.ranks.push_back(rank);
  return report;
}

}  // namespace harness
