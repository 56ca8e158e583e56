// Scales the remaining predictions by how long the finished rows took compared with theirs.
#include "harness/plan/time_left.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace harness {

TimeLeft::TimeLeft(std::vector<Prediction> rows, std::vector<size_t> runs, std::vector<size_t> maybe,
                   double limit_s)
    : rows_(std::move(rows)), runs_(std::move(runs)), maybe_(std::move(maybe)), limit_s_(limit_s) {}

double TimeLeft::run_s(size_t row, double running_s) const {
  if (const auto took = took_.find(row); took != took_.end())
    return std::accumulate(took->second.begin(), took->second.end(), 0.0) / double(took->second.size());
  const Prediction& prediction = rows_[row];
  const auto found = sums_.find(prediction.from);
  Sums sums = found == sums_.end() ? Sums{} : found->second;
  if (running_s > 0 && ended_ < runs_.size() && rows_[runs_[ended_]].from == prediction.from) {
    sums.took_s += running_s;
    sums.predicted_s += rows_[runs_[ended_]].seconds;
  }
  return sums.predicted_s > 0 ? prediction.seconds * sums.took_s / sums.predicted_s : prediction.seconds;
}

void TimeLeft::ended(size_t row, double seconds) {
  if (ended_ < runs_.size())
    ++ended_;
  else if (const auto done = std::find(maybe_.begin(), maybe_.end(), row); done != maybe_.end())
    maybe_.erase(done);
  if (!(rows_[row].seconds > 0)) return;  // skipped
  took_[row].push_back(seconds);
  sums_[rows_[row].from].took_s += seconds;
  sums_[rows_[row].from].predicted_s += rows_[row].seconds;
}

double TimeLeft::rest_s(double elapsed_s, double running_s) const {
  double end_s = elapsed_s;
  for (size_t i = ended_ + 1; i < runs_.size(); ++i) end_s += run_s(runs_[i], running_s);
  for (size_t i = ended_ < runs_.size() ? 0 : 1; i < maybe_.size(); ++i)  // the first of them is in progress
    if (const double more_s = run_s(maybe_[i], running_s); end_s + more_s <= limit_s_) end_s += more_s;
  return end_s - elapsed_s + kReport_s;
}

}  // namespace harness
