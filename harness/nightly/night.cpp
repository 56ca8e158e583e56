#include "harness/nightly/night.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/contract/config_hash.h"
#include "harness/contract/row.h"
#include "harness/report/summary/ratio.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

NightRow night_row(const Summary& summary, const SummaryRow& row) {
  NightRow it{row.id, summary.scale, summary.device, row.status, config_hash(to_json(row.config)), {},
              {},     row.repeats};
  std::vector<std::pair<int64_t, double>> by_repeat;
  for (size_t i = 0; i < row.runs.size(); ++i)
    by_repeat.push_back({double(row.records[i]->repeat), row.runs[i].total_s});
  std::sort(by_repeat.begin(), by_repeat.end());
  for (const auto& [repeat, total] : by_repeat) it.totals_s.push_back(rounded(total));
  for (const std::string& phase : phase_names()) {
    std::vector<double> times;
    for (const RunStatistics& run : row.runs) times.push_back(phases_ms(run, {phase}));
    if (const double ms = median(times); ms > 0) it.phases_ms[phase] = rounded(ms);
  }
  return it;
}

template <typename T>
T required(const json& object, const char* key) {
  try {
    return object.at(key).get<T>();
  } catch (const json::exception&) {
    throw std::invalid_argument(fmt::format("`{}` is missing or has a wrong type", key));
  }
}

double positive(double value, const char* key) {
  if (!(value > 0) || !std::isfinite(value))
    throw std::invalid_argument(fmt::format("`{}` is not positive", key));
  return value;
}

NightRow night_row_from_json(const json& object) {
  NightRow row;
  row.row = required<std::string>(object, "row");
  row.scale = required<std::string>(object, "scale");
  row.device = required<std::string>(object, "device");
  row.status = required<std::string>(object, "status");
  row.config = required<std::string>(object, "config");
  row.totals_s = required<std::vector<double>>(object, "totals_s");
  row.phases_ms = required<std::map<std::string, double>>(object, "phases_ms");
  row.repeats = required<int64_t>(object, "repeats");
  for (double total : row.totals_s) positive(total, "totals_s");
  for (const auto& [phase, ms] : row.phases_ms) positive(ms, "phases_ms");
  return row;
}

}  // namespace

double NightRow::median_s() const { return median(totals_s); }

Night night_of(const std::string& id, const Records& records) {
  Night night;
  night.id = id;
  for (const Record& record : records) {
    const std::string started = record.started_at;
    if (night.started_at.empty() || started < night.started_at) night.started_at = started;
  }
  if (records.empty()) return night;
  night.machine = machine_fingerprint(records.front());
  night.environment = environment_key(records.front());
  night.host = records.front().machine.host;
  night.revision = records.front().build.revision;
  for (const Summary& summary : summarise(records))
    for (const SummaryRow& row : summary.rows) night.rows.push_back(night_row(summary, row));
  return night;
}

json to_json(const Night& night) {
  json rows = json::array();
  for (const NightRow& row : night.rows)
    rows.push_back({{"row", row.row},
                    {"scale", row.scale},
                    {"device", row.device},
                    {"status", row.status},
                    {"config", row.config},
                    {"totals_s", row.totals_s},
                    {"phases_ms", row.phases_ms},
                    {"repeats", row.repeats}});
  json object = {{"schema", 1},
                 {"id", night.id},
                 {"started_at", night.started_at},
                 {"tag", night.tag},
                 {"machine", night.machine},
                 {"environment", night.environment},
                 {"host", night.host},
                 {"revision", night.revision},
                 {"run", night.run},
                 {"complete", night.complete},
                 {"canaries", night.canaries},
                 {"rows", rows}};
  if (night.imported) object["imported"] = true;
  return object;
}

Night night_from_json(const json& object) {
  if (!object.is_object()) throw std::invalid_argument("not a JSON object");
  if (required<int>(object, "schema") != 1)
    throw std::invalid_argument("found schema " + object.at("schema").dump() + ", expected 1");
  Night night;
  night.id = required<std::string>(object, "id");
  night.started_at = required<std::string>(object, "started_at");
  night.tag = required<std::string>(object, "tag");
  night.machine = required<std::string>(object, "machine");
  night.environment = required<std::string>(object, "environment");
  night.host = required<std::string>(object, "host");
  night.revision = required<std::string>(object, "revision");
  night.run = required<std::string>(object, "run");
  night.complete = required<bool>(object, "complete");
  if (object.contains("imported")) night.imported = required<bool>(object, "imported");
  night.canaries = required<std::map<std::string, double>>(object, "canaries");
  for (const auto& [name, ms] : night.canaries) positive(ms, "canaries");
  const json& rows = object.contains("rows") ? object.at("rows") : json();
  if (!rows.is_array()) throw std::invalid_argument("`rows` is missing or has a wrong type");
  for (const json& row : rows) night.rows.push_back(night_row_from_json(row));
  return night;
}

}  // namespace harness
