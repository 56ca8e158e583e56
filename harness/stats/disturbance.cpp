// Takes stolen and foreign processor time and changes of the clock frequency from the record.
#include "harness/stats/disturbance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace harness {

std::optional<double> others_share(const Record& record) {
  const RecordEnvironment& environment = record.environment;
  if (!environment.window_steal_share) return environment.steal_share;
  return std::min(1.0, *environment.window_steal_share + environment.window_outside_share.value_or(0));
}

double most_taken_share(const RecordList& records) {
  double most = 0;
  for (const Record* record : records) most = std::max(most, others_share(*record).value_or(0));
  return most;
}

double most_changed_clock(const RecordList& records) {
  double most = 0;
  for (const Record* record : records)
    if (is_processor_bound(*record))
      most = std::max(most, std::abs(record->environment.clock_change.value_or(0)));
  return most;
}

double disturbance_of(const Record& record) {
  return std::max(others_share(record).value_or(1), most_changed_clock({&record}));
}

bool is_disturbed(const Record& record) {
  return is_ok(record) && (others_share(record).value_or(0) >= kDisturbedShare ||
                           most_changed_clock({&record}) >= kChangedClock);
}

std::string disturbance_text(const RecordList& records) {
  const double share = most_taken_share(records), clock = most_changed_clock(records);
  std::string text;
  if (share >= kDisturbedShare) text = fmt::format("others took up to {:.0f} % of the CPU time", 100 * share);
  if (clock >= kChangedClock)
    text += fmt::format("{}the processor's clock changed by up to {:.0f} %", text.empty() ? "" : "; ",
                        100 * clock);
  return text;
}

bool is_processor_bound(const Record& record) {
  const Row& row = record.config;
  const bool waits_for_a_set_rate =
      row.read_rate > 0 || row.read_latency_ms > 0 || row.store_rate_mbit > 0 || row.store_latency_ms > 0;
  // Added host work is processor time, too; all other emulated hardware is waited for.
  const bool waits_for_emulated = std::ranges::any_of(
      record.emulated, [](const std::string& setting) { return !is_of_part(setting, "host_work"); });
  return record.device.kind == "cpu" && !waits_for_emulated && !record.object_store &&
         !waits_for_a_set_rate && cache_state(record) != "cold";
}

double undisturbed_s(const Record& record) {
  return record.total_s.value_or(0) * (1 - others_share(record).value_or(0));
}

ComparedSeconds::ComparedSeconds(const RecordList& a, const RecordList& b) {
  bool can_be_corrected = true;
  for (const RecordList* records : {&a, &b})
    for (const Record* record : *records) {
      const auto share = others_share(*record);
      can_be_corrected = can_be_corrected && share && *share < 1 && is_processor_bound(*record);
    }
  undisturbed_ = can_be_corrected && std::max(most_taken_share(a), most_taken_share(b)) >= kDisturbedShare;
}

double ComparedSeconds::share_left(const Record& record) const {
  return undisturbed_ ? 1 - others_share(record).value_or(0) : 1;
}

double ComparedSeconds::of(const Record& record) const {
  return record.total_s.value_or(0) * share_left(record);
}

std::vector<double> ComparedSeconds::of(const RecordList& records) const {
  std::vector<double> seconds;
  for (const Record* record : records) seconds.push_back(of(*record));
  return seconds;
}

}  // namespace harness
