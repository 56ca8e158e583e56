// Takes totals, phase times and metrics from a summary, and checks nights that are read from JSON.
#include "harness/nightly/night.h"

#include <algorithm>
#include <cmath>

#include "harness/contract/config_hash.h"
#include "harness/contract/row.h"
#include "harness/nightly/machine_health.h"
#include "harness/report/metrics.h"
#include "harness/report/summary/ratio.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/full_size.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

// Leaves out what rounding makes 0: a night has only positive figures.
void keep_positive(std::map<std::string, double>& figures, const std::string& name, double value) {
  if (const double kept = rounded(value); kept > 0 && std::isfinite(kept)) figures[name] = kept;
}

NightRow night_row(const Summary& summary, const SummaryRow& row) {
  std::string config = config_hash(to_json(row.config));
  if (row.record && row.record->emulation) config += "-" + emulation_hash(row.record->emulation);
  NightRow it{row.id, summary.scale, summary.device, row.status, config, {}, {}, row.repeats};
  RecordList in_order = row.records;
  std::ranges::sort(in_order, {}, &Record::repeat);
  for (const Record* run : in_order) it.totals_s.push_back(rounded(run->total_s.value_or(0)));
  if (const ComparedSeconds seconds(in_order, {}); seconds.undisturbed())
    for (double total : seconds.of(in_order)) it.undisturbed_s.push_back(rounded(total));
  else if (const auto spoiled = std::ranges::count_if(
               in_order, [](const Record* run) { return others_share(*run).value_or(0) >= kSpoiledShare; }))
    it.spoiled = spoiled;
  for (const std::string& phase : phase_names())
    keep_positive(it.phases_ms, phase, median(ms_in({phase})(row)));
  for (const Metric& metric : metrics())
    if (row.ok() && metric.better && metric.name != kTotalSeconds)
      keep_positive(it.metrics, metric.name, metric.figure(row).value_or(0));
  return it;
}

void require_positive(const std::string& at, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw Violation(at, "a positive number", value);
}

}  // namespace

double NightRow::median_s() const { return median(totals_s); }
const std::vector<double>& NightRow::compared_seconds() const {
  return undisturbed_s.empty() ? totals_s : undisturbed_s;
}
double NightRow::compared_s() const { return median(compared_seconds()); }

size_t Night::rows_ok() const { return size_t(std::ranges::count_if(rows, &NightRow::ok)); }

std::vector<std::string> Night::spoiled_rows() const {
  std::vector<std::string> spoiled;
  for (const NightRow& row : rows)
    if (row.is_spoiled()) spoiled.push_back(row.row);
  return spoiled;
}

Night night_of(const std::string& id, const Records& as_they_ran) {
  const Records records = at_full_size(as_they_ran);
  Night night;
  night.id = id;
  for (const Record& record : records) {
    const std::string started = record.started_at;
    if (night.started_at.empty() || started < night.started_at) night.started_at = started;
  }
  if (records.empty()) return night;
  const Record& named = record_of_machine(records);
  night.machine = machine_fingerprint(named);
  night.environment = environment_key(named);
  night.host = named.machine.host;
  night.revision = named.build.revision;
  night.gpu_faults = gpu_faults(records);
  for (const Summary& summary : summarise(records))
    for (const SummaryRow& row : summary.rows) night.rows.push_back(night_row(summary, row));
  return night;
}

Night night_from_json(const json& object) {
  require_version(object, "schema", 1, "a night of a history");
  Night night = decode<Night>(object);
  for (const auto& [name, ms] : night.canaries) require_positive("canaries." + name, ms);
  for (const NightRow& row : night.rows) {
    for (double total : row.totals_s) require_positive("totals_s", total);
    for (double total : row.undisturbed_s) require_positive("undisturbed_s", total);
    for (const auto& [phase, ms] : row.phases_ms) require_positive("phases_ms." + phase, ms);
    for (const auto& [name, value] : row.metrics) require_positive("metrics." + name, value);
  }
  return night;
}

}  // namespace harness
