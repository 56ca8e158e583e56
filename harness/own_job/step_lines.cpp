// Follows a growing file and notes when each matching line came.
#include "harness/own_job/step_lines.h"

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

ProbeReport StepLines::report(int64_t warmup) const {
  ProbeReport report;
  ProbeRank rank;
  rank.iterations = int64_t(ends_.size());
  rank.end = "done";
  ProbeSegment segment;
  segment.change = "unchanged";
  segment.settled = warmup;
  for (size_t i = size_t(std::max<int64_t>(1, warmup)); i < ends_.size(); ++i) {
    ProbeStep step;
    step.wall_ms = step.other_ms = std::chrono::duration<double, std::milli>(ends_[i] - ends_[i - 1]).count();
    step.items = 1;
    segment.steps.push_back(step);
  }
  segment.items = segment.updates = int64_t(segment.steps.size());
  if (!segment.steps.empty()) rank.segments.push_back(segment);
  if (!ends_.empty()) report.ranks.push_back(rank);
  return report;
}

}  // namespace harness
