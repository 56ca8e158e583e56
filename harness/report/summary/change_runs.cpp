// Gathers the runs of each change and compares them block by block; with few blocks by scatter that other
// changes lend.
#include "harness/report/summary/change_runs.h"

#include <cmath>
#include <vector>

#include "harness/stats/statistics.h"

namespace harness {

RunsByChange runs_by_change(const RecordList& records, const std::string& of) {
  RunsByChange all;
  for (const Record* record : records) {
    if (!record->intervention || record->intervention->of != of) continue;
    ChangeRuns& runs = all[record->intervention->change];
    runs.added_ms = record->intervention->added_ms;
    runs.row = record->config;
    if (is_ok(*record) && record->images_per_second.value_or(0) > 0) {
      runs.seconds[record->intervention->block] = 1 / *record->images_per_second;
      runs.records.push_back(record);
    } else {
      runs.why_not = record->reason;
    }
  }
  return all;
}

double median_images_per_second(const ChangeRuns& runs) {
  std::vector<double> rates;
  for (const auto& [block, seconds] : runs.seconds) rates.push_back(1 / seconds);
  return median(rates);
}

std::optional<Location> slope_of(const ChangeRuns& unchanged, const ChangeRuns& runs, int64_t batch) {
  std::vector<double> slopes;
  for (const auto& [block, seconds] : unchanged.seconds)
    if (const auto slower = runs.seconds.find(block); slower != runs.seconds.end() && runs.added_ms > 0)
      slopes.push_back((slower->second - seconds) * 1e3 * double(batch) / runs.added_ms);
  if (slopes.empty()) return std::nullopt;
  return location_of(slopes);
}

// The logarithms of seconds per image in the blocks that `partner` has too.
static Runs logs_of(const ChangeRuns& runs, const ChangeRuns& partner) {
  Runs logs{family_of(runs.records), {}};
  for (const auto& [block, seconds] : runs.seconds)
    if (partner.seconds.count(block)) logs.values.push_back(std::log(seconds));
  return logs;
}

static std::vector<Runs> logs_of_all(const RunsByChange& all) {
  std::vector<Runs> logs;
  for (const auto& [name, runs] : all)
    if (!runs.seconds.empty()) logs.push_back(logs_of(runs, runs));  // of which scatter is borrowed
  return logs;
}

Gains::Gains(const RunsByChange& all) : all_(all), pools_(logs_of_all(all)) {}

std::optional<Ratio> Gains::of(const std::string& before, const std::string& after) const {
  const ChangeRuns &one = all_.at(before), &other = all_.at(after);
  std::vector<double> a, b;
  for (const auto& [block, seconds] : one.seconds)
    if (const auto partner = other.seconds.find(block); partner != other.seconds.end()) {
      a.push_back(seconds);
      b.push_back(partner->second);
    }
  if (a.empty()) return std::nullopt;
  Ratio gain = ratio_of(paired_effect(a, b));
  const Runs logs = logs_of(one, other), others = logs_of(other, one);
  if (a.size() < kFewestRuns && before != after)
    borrow_scatter(gain, pools_, {{&logs, 1}, {&others, -1}}, kFewestOwnBlocks);
  return gain;
}

}  // namespace harness
