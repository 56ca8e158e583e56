#include "harness/stats/common_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace harness {
namespace {

bool is_concerned(const Record& record) { return record.emulation && !record.feed && !record.intervention; }

double most_frequent(const Records& records) {
  std::map<double, int> rows;  // by time_scale
  for (const Record& record : records)
    if (is_concerned(record)) ++rows[record.config.time_scale];
  if (rows.empty()) return 1;
  return std::max_element(rows.begin(), rows.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void multiply(std::optional<double>& time, double factor) {
  if (time) *time *= factor;
}

void multiply(Samples& samples, double factor) {
  for (auto& [name, ranks] : samples)
    for (std::vector<double>& rank : ranks)
      for (double& ms : rank) ms = rounded_ms(ms * factor * 1e6);
}

void bring_to(Record& record, double time_scale) {
  const double factor = time_scale / record.config.time_scale;
  record.notes.push_back(
      fmt::format("ran at time x {:g}, shown as at x {:g}", record.config.time_scale, time_scale));
  record.config.time_scale = record.emulation->time_scale = time_scale;
  multiply(record.total_s, factor);
  multiply(record.images_per_second, 1 / factor);
  for (Samples* samples : {&record.samples_ms, &record.warmup_ms, &record.spans_ms, &record.device_ms})
    multiply(*samples, factor);
  if (record.communication) multiply(record.communication->ceiling_ms, factor);
  if (record.ceilings) {
    multiply(record.ceilings->loader_ms, factor);
    multiply(record.ceilings->compute_ms, factor);
    for (auto& [phase, ms] : record.ceilings->compute) ms *= factor;
    for (auto* batches : {&record.ceilings->loader_batch_ms, &record.ceilings->compute_batch_ms})
      for (double& ms : *batches) ms *= factor;
  }
  if (!record.timeline) return;
  for (TimelineEvent& event : record.timeline->events) event.begin_ms *= factor, event.end_ms *= factor;
}

}  // namespace

Records in_common_time(Records records) {
  const double common = most_frequent(records);
  for (Record& record : records)
    if (is_concerned(record) && record.config.time_scale != common) bring_to(record, common);
  return records;
}

}  // namespace harness
