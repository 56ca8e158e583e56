// Takes medians of the runs for each number of devices, and judges whether the asked number is fed.
#include "harness/report/summary/feed_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "harness/base/plain_text.h"
#include "harness/experiment/intervention.h"
#include "harness/report/summary/device_time.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

// Milliseconds per batch in which the device computed.
std::optional<double> compute_ms(const Record& record) {
  return device_ms(record, phases_of(StepPart::computing));
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

void add_points(FeedAnswer& answer, const RecordList& records) {
  std::map<double, std::vector<const Record*>> by_devices;
  for (const Record* record : records)
    if (record->feed && is_ok(*record) && device_utilisation(*record) &&
        (record->feed->purpose == "asked" || record->feed->purpose == "confirm"))
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

// And why: the reason of the last run without a figure, or that no run was left.
std::string what_is_missing(const FeedAnswer& answer, const RecordList& records) {
  std::vector<std::string> missing;
  if (answer.loader_images_per_second <= 0) missing.push_back("the loader's rate");
  if (!answer.asked_is_fed) missing.push_back("the utilisation of " + base::counted(answer.asked, "device"));
  if (answer.binding.empty()) missing.push_back("what binds");
  if (missing.empty()) return "";
  std::string why = "the time was used up (--within)";
  for (const Record* record : records)
    if (record->feed && !is_ok(*record) && !record->reason.empty() &&
        (record->status != "SKIPPED" || !find_intervention(record->feed->purpose)))
      why = fmt::format("run {} is {}: {}", record->row, record->status, record->reason);
  return fmt::format("{}; {}", fmt::join(missing, ", "), why);
}

void judge(FeedAnswer& answer) {
  std::map<double, bool> fed;
  for (const FeedPoint& point : answer.points) fed[point.devices] = point.utilisation >= kFedFrom;
  if (fed.count(double(answer.asked))) answer.asked_is_fed = fed[double(answer.asked)];
  if (fed.count(1) && !fed[1]) answer.whole = 0;
  for (const auto& [devices, is_fed] : fed)
    if (is_fed && fed.count(devices + 1) && !fed[devices + 1]) answer.whole = int64_t(devices);
}

void find_binding(FeedAnswer& answer, const RecordList& records) {
  answer.loader = explanation_of_loader(records);
  const auto runs_of = [&](const std::string& purpose) {
    RecordList runs;
    for (const Record* record : records)
      if (record->feed && record->feed->purpose == purpose) runs.push_back(record);
    return runs;
  };
  for (const Record* record : runs_of("made_up"))
    if (is_ok(*record)) answer.host_binds = device_utilisation(*record).value_or(0) < kFedFrom;
  for (const Intervention& change : interventions())  // one that wasn't tried may be what binds
    if (change.of_loader && runs_of(change.name).empty()) return;
  if (answer.host_binds) {
    answer.binding = "host";
    answer.because = fmt::format(
        "even made-up batches, without any loading, keep the device below {:.0f} %: launches, or the copy to "
        "the device",
        100 * kFedFrom);
  } else if (const ExplainedChange* likely = answer.loader.likely()) {
    const auto fewer = std::ranges::find_if(answer.loader.changes, [](const auto& change) {
      return change.change->name == std::string("fewer_threads") && change.part;
    });
    answer.binding = likely->change->resource;
    answer.because = fmt::format(
        "with {} it delivers {:.2f} times as many images{}", likely->change->title, likely->part->value,
        likely->over->name == std::string("unchanged") ? ""
                                                       : fmt::format(" as with {}", likely->over->title));
    // The rest of loading, which needs cores if it depends on the threads that it has.
    if (answer.binding == "loader" && fewer != answer.loader.changes.end() &&
        fewer->part->value <= 1 / kClearGain) {
      answer.binding = "cores";
      answer.because += fmt::format(", and with half the threads {:.2f} times", fewer->part->value);
    }
  }
}

}  // namespace

std::optional<double> device_utilisation(const Record& record) {
  const auto compute = compute_ms(record);
  const double total_s = extended_total_s(record);
  if (!compute || !(total_s > 0) || !record.timed_batches) return std::nullopt;
  return *compute * double(*record.timed_batches) / (total_s * 1e3);
}

double bytes_per_image(const Record& record) {
  if (!record.cache || !record.cache->encoded_bytes) return 0;
  int64_t batches = record.warmup_batches.value_or(0) + record.timed_batches.value_or(0);
  if (record.ring)
    batches +=
        std::accumulate(record.ring->ready_at_end.begin(), record.ring->ready_at_end.end(), int64_t(0));
  return double(*record.cache->encoded_bytes) / double(batches * record.config.batch);
}

std::optional<double> delivered_images_per_second(const Record& record) {
  const double total_s = extended_total_s(record);
  if (!(total_s > 0) || !record.timed_batches) return std::nullopt;
  return double(record.config.batch * *record.timed_batches) / total_s;
}

std::optional<FeedAnswer> feed_answer(const RecordList& records) {
  const auto first =
      std::ranges::find_if(records, [](const Record* it) { return it->feed && !it->device_rates.empty(); });
  if (first == records.end()) return std::nullopt;
  FeedAnswer answer;
  answer.asked = (*first)->feed->asked;
  answer.row = (*first)->config;
  answer.device = answer.row.device_file;
  answer.cores = std::min(answer.row.cpus, std::max<int64_t>(1, answer.row.loader_threads));
  for (const auto& [device, rate] : (*first)->device_rates) answer.device_images_per_second = rate;
  std::vector<double> sizes, survey;
  for (const Record* record : records) {
    if (!record->feed || !is_ok(*record)) continue;
    answer.load_average = std::max(answer.load_average, record->environment.load_average.value_or(0));
    if (record->feed->purpose == "survey") survey.push_back(delivered_images_per_second(*record).value_or(0));
    if (record->config.storage == answer.row.storage)
      if (const double bytes = bytes_per_image(*record); bytes > 0) sizes.push_back(bytes);
  }
  answer.bytes_per_image = median(sizes);
  add_points(answer, records);
  judge(answer);
  find_binding(answer, records);
  answer.loader_images_per_second = answer.loader.images_per_second;
  if (answer.loader_images_per_second <= 0) answer.loader_images_per_second = median(survey);
  answer.fed_by_rate = answer.loader_images_per_second / (kFedFrom * answer.device_images_per_second);
  answer.needed_images_per_second = kFedFrom * double(answer.asked) * answer.device_images_per_second;
  const double decoded = answer.binding == "storage" ? answer.loader.likely()->images_per_second
                         : answer.binding == "loader threads" || answer.binding == "host"
                             ? 0
                             : answer.loader_images_per_second;
  if (decoded > 0) answer.needed_cores = double(answer.cores) * answer.needed_images_per_second / decoded;
  answer.over_network = (*first)->object_store.has_value();
  answer.missing = what_is_missing(answer, records);
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

double batch_of_a_rank(const Record& record) {
  return double(std::max<int64_t>(1, record.config.batch / record.world_size));
}

std::optional<JobFeed> job_feed(const RecordList& records) {
  JobFeed feed;
  std::vector<double> rates;
  for (const Record* record : records) {
    if (!record->job || record->device_rates.empty() || !record->images_per_second) continue;
    rates.push_back(*record->images_per_second);
    feed.batch = batch_of_a_rank(*record);
    feed.device_items_per_s = record->device_rates.begin()->second;
    feed.on_processor = record->device.name == record->machine.cpu;
  }
  if (rates.empty()) return std::nullopt;
  feed.rate = location_of(rates);
  return feed;
}

}  // namespace harness
