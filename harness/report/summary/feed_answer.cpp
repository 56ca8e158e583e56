#include "harness/report/summary/feed_answer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "harness/report/summary/device_time.h"
#include "harness/report/summary/feed_binding.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

// Milliseconds per batch in which the device computed.
std::optional<double> compute_ms(const Record& record) {
  return device_ms(record, {"forward", "loss", "backward", "step"});
}

// The window's length in seconds, extended by the time for batches that were loaded before it.
double extended_total_s(const Record& record) {
  const double total_s = record.total_s.value_or(0), batches = double(record.timed_batches.value_or(0));
  if (!record.ring) return total_s;
  const auto sum = [](const std::vector<int64_t>& ready) {
    return double(std::accumulate(ready.begin(), ready.end(), int64_t(0)));
  };
  const double drawn = sum(record.ring->ready_at_start) - sum(record.ring->ready_at_end);
  return drawn > 0 && drawn < batches ? total_s * batches / (batches - drawn) : total_s;
}

// Encoded bytes of an image as the storage delivered it. The loader may be a part of a batch ahead.
double bytes_per_image(const Record& record) {
  if (!record.cache || !record.cache->encoded_bytes) return 0;
  int64_t batches = record.warmup_batches.value_or(0) + record.timed_batches.value_or(0);
  if (record.ring)
    batches +=
        std::accumulate(record.ring->ready_at_end.begin(), record.ring->ready_at_end.end(), int64_t(0));
  return double(*record.cache->encoded_bytes) / double(batches * record.config.batch);
}

void add_points(FeedAnswer& answer, const RecordList& records) {
  std::map<double, std::vector<const Record*>> by_devices;
  for (const Record* record : records)
    if (record->feed && is_ok(*record) && device_utilisation(*record) &&
        (record->feed->purpose == "search" || record->feed->purpose == "confirm"))
      by_devices[record->feed->devices].push_back(record);
  for (const auto& [devices, runs] : by_devices) {
    std::vector<double> utilisations, rates;
    for (const Record* run : runs) {
      utilisations.push_back(*device_utilisation(*run));
      rates.push_back(*delivered_images_per_second(*run));
    }
    answer.points.push_back({devices, median(utilisations), median(rates), runs.size()});
  }
}

void judge(FeedAnswer& answer) {
  for (const FeedPoint& point : answer.points) {  // in ascending order
    const bool fed = point.utilisation >= kFedFrom;
    if (point.devices == double(answer.asked)) answer.asked_is_fed = fed;
    if (fed) {
      answer.most_fed = point.devices;
      answer.least_not_fed.reset();  // a smaller number that isn't fed was disturbed
    } else if (!answer.least_not_fed) {
      answer.least_not_fed = point.devices;
    }
  }
  const auto is_fed = [&](int64_t devices) -> std::optional<bool> {
    for (const FeedPoint& point : answer.points)
      if (point.devices == double(devices)) return point.utilisation >= kFedFrom;
    return std::nullopt;
  };
  for (const FeedPoint& point : answer.points) {
    const int64_t devices = int64_t(point.devices);
    if (double(devices) != point.devices || point.utilisation < kFedFrom) continue;
    if (is_fed(devices + 1) == false) answer.whole = devices;
  }
  if (is_fed(1) == false) answer.whole = 0;
}

}  // namespace

std::optional<double> device_utilisation(const Record& record) {
  const auto compute = compute_ms(record);
  const double total_s = extended_total_s(record);
  if (!compute || !(total_s > 0) || !record.timed_batches) return std::nullopt;
  return *compute * double(*record.timed_batches) / (total_s * 1e3);
}

std::optional<double> delivered_images_per_second(const Record& record) {
  const double total_s = extended_total_s(record);
  if (!(total_s > 0) || !record.timed_batches) return std::nullopt;
  return double(record.config.batch * *record.timed_batches) / total_s;
}

std::optional<FeedAnswer> feed_answer(const RecordList& records) {
  const auto first =
      std::find_if(records.begin(), records.end(), [](const Record* it) { return it->feed.has_value(); });
  if (first == records.end()) return std::nullopt;
  FeedAnswer answer;
  answer.asked = (*first)->feed->asked;
  answer.row = (*first)->config;
  answer.device = answer.row.device_file;
  answer.cores = std::min(answer.row.cpus, std::max<int64_t>(1, answer.row.loader_threads));
  std::vector<double> speeds, sizes;
  for (const Record* record : records) {
    if (!record->feed || !is_ok(*record)) continue;
    answer.load_average = std::max(answer.load_average, record->environment.load_average.value_or(0));
    if (const auto compute = compute_ms(*record); compute && *compute > 0)
      speeds.push_back(double(record->config.batch) / *compute * 1e3 / record->feed->devices);
    if (record->config.storage == answer.row.storage)
      if (const double bytes = bytes_per_image(*record); bytes > 0) sizes.push_back(bytes);
  }
  answer.device_images_per_second = median(speeds);
  answer.bytes_per_image = median(sizes);
  add_points(answer, records);
  judge(answer);
  find_binding(answer, records);
  answer.needed_images_per_second = kFedFrom * double(answer.asked) * answer.device_images_per_second;
  answer.needed_mb_per_s = answer.needed_images_per_second * answer.bytes_per_image * 1e-6;
  const double cores = double(answer.cores), in_memory = rate_of(answer, "in_memory");
  const bool cores_limit = answer.binding != "host" && answer.binding != "loader threads";
  if (answer.binding == "storage" && in_memory > 0)
    answer.needed_cores = cores * answer.needed_images_per_second / in_memory;
  else if (cores_limit && answer.most_fed)
    answer.needed_cores = cores * double(answer.asked) / *answer.most_fed;
  answer.over_network = (*first)->object_store.has_value();
  return answer;
}

std::optional<FeedAnswer> feed_answer(const Summary& summary) {
  RecordList records;
  for (const SummaryRow& row : summary.rows)
    if (row.ok())
      records.insert(records.end(), row.records.begin(), row.records.end());
    else if (row.record)
      records.push_back(row.record);
  return feed_answer(records);
}

}  // namespace harness
