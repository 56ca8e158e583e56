// Multiplies batches by the divisor, and times by the divisor over the time scale.
#include "harness/stats/full_size.h"

#include <functional>

namespace harness {
namespace {

using Change = std::function<double(double time)>;

// Whether the values of a key are times, by the unit that its name ends in.
bool is_time(const std::string& key) {
  return key.ends_with("_ms") || key.ends_with("_s") || key == "compute";  // `compute_ms` by phase
}

// Changes the times in a value. `is_one`: its numbers are times themselves.
void change_times(const ValueType& type, void* value, bool is_one, const Change& change) {
  const auto change_part = [&](const void* part) {
    change_times(*type.element, const_cast<void*>(part), is_one, change);
  };
  if (type.kind == Kind::number && is_one) {
    double& time = *static_cast<double*>(value);
    time = change(time);
  } else if (type.kind == Kind::structure) {
    for (const Key& key : type.keys()) change_times(*key.type, key.in(value), is_time(key.name), change);
  } else if (type.kind == Kind::map) {
    for (const ValueType::Entry& entry : type.entries(value)) change_part(entry.value);
  } else if (type.element) {
    const auto [first, count] = type.elements(value);
    for (size_t i = 0; i < count; ++i) change_part(static_cast<const char*>(first) + i * type.element->bytes);
  }
}

void enlarge(Record& record) {
  const int64_t divisor = record.emulation->batch_divisor;
  const double time_scale = record.emulation->time_scale;
  record.config.batch *= divisor;
  record.emulation->batch_divisor = record.scale.batch_divisor = 1;
  record.config.time_scale = record.emulation->time_scale = 1;
  if (record.images_per_second) *record.images_per_second *= time_scale;
  // Of the images that were loaded here, whose number grows with the batch.
  if (record.environment.window_own_s) *record.environment.window_own_s *= double(divisor);
  const double factor = double(divisor) / time_scale;
  if (record.intervention) record.intervention->added_ms *= factor;
  for (const Key& key : kType<Record>.keys()) {
    const bool is_samples = key.find_in<Samples>(&record);
    if (key.presence == Presence::figure || key.find_in<std::optional<RecordCommunication>>(&record))
      change_times(*key.type, key.in(&record), is_time(key.name),
                   [&](double time) { return is_samples ? rounded_ms(time * factor * 1e6) : time * factor; });
  }
}

}  // namespace

Records at_full_size(Records records) {
  for (Record& record : records)
    if (record.emulation && !record.feed) enlarge(record);
  return records;
}

}  // namespace harness
