// The host time of the mean batch of every row by phase, and below it the device time.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"
#include "harness/report/summary/device_time.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

json phase_value(const SummaryRow& row, const std::string& phase, const char* clock, double ms) {
  const auto place = std::find(phase_names().begin(), phase_names().end(), phase) - phase_names().begin();
  return {{"row", row.id}, {"phase", phase}, {"clock", clock}, {"phase_position", place}, {"ms", ms}};
}

// Uses means: they add up to the step, while the median of a loader that delivers in bursts is near zero.
double add_host_phases(const SummaryRow& row, json& values) {
  double step_ms = 0;
  for (const PhaseStatistics& phase : row.run.phases) {
    values.push_back(phase_value(row, phase.name, "host", phase.mean_ms));
    step_ms += phase.mean_ms;
  }
  return step_ms;
}

double add_device_phases(const SummaryRow& row, json& values) {
  double whole = 0;
  if (on_emulated_device(*row.record)) return whole;  // its phases are the device's
  for (const std::string& phase : phase_names()) {
    const double ms = device_ms(*row.record, {phase}).value_or(0);
    if (ms > 0) values.push_back(phase_value(row, phase, "device", ms));
    whole += ms;
  }
  return whole;
}

}  // namespace

bool fill_phases(json& spec, const FigureSource& source) {
  const Summary& summary = source.summary;
  json values = json::array();
  double largest = 0, device = 0;
  for (const SummaryRow& row : summary.rows) {
    json total = row_values(row);
    if (!row.ok()) {
      total["reason_label"] = reason_of(row);
      total["reason"] = row.reason;
    } else if (!row.run.has_samples) {
      total["reason_label"] = "ran without phase clock";
    } else {
      const double step_ms = add_host_phases(row, values);
      total["step_ms"] = step_ms;
      total["step_label"] = fmt::format("{:.{}f} ms", step_ms, step_ms < 10 ? 2 : 1);
      largest = std::max(largest, step_ms);
      device = std::max(device, add_device_phases(row, values));
    }
    values.push_back(total);
  }
  if (largest == 0) return false;
  spec["data"] = {{"values", values}};
  spec["/encoding/y/sort"_json_pointer] = row_order(summary);
  json& colour = spec["/layer/0/encoding/color"_json_pointer];
  colour["scale"] = colour_scale(source.palette.phases);
  colour["legend"]["values"] = present(source.palette.phases, values, "phase");
  spec["/layer/0/encoding/x/title"_json_pointer] = {
      fmt::format("ms per batch on {},", where_measured(summary)),
      fmt::format("mean of batches and ranks (shorter is faster){}",
                  device > 0 ? "; thin bar: device time" : "")};
  spec["/layer/0/encoding/x/scale"_json_pointer] = domain_to(std::max(largest, device), 1.15);
  if (device > 0) spec["height"]["step"] = 26;
  set_title(spec, source, "where a batch spends its time");
  return true;
}

}  // namespace harness
