#include "harness/stats/full_size.h"

namespace harness {
namespace {

void multiply(std::optional<double>& time, double factor) {
  if (time) *time *= factor;
}

void multiply(Samples& samples, double factor) {
  for (auto& [name, ranks] : samples)
    for (std::vector<double>& rank : ranks)
      for (double& ms : rank) ms = rounded_ms(ms * factor * 1e6);
}

void enlarge(Record& record) {
  const int64_t divisor = record.emulation->batch_divisor;
  const double time_scale = record.emulation->time_scale, factor = double(divisor) / time_scale;
  record.config.batch *= divisor;
  record.emulation->batch_divisor = record.scale.batch_divisor = 1;
  record.config.time_scale = record.emulation->time_scale = 1;
  multiply(record.total_s, factor);
  multiply(record.images_per_second, double(divisor) / factor);
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

Records at_full_size(Records records) {
  for (Record& record : records)
    if (record.emulation && !record.feed && !record.intervention) enlarge(record);
  return records;
}

}  // namespace harness
