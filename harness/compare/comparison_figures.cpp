#include "harness/compare/comparison_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace harness {
namespace {

using nlohmann::json;

constexpr double kNarrowest = 0.06;  // the axis covers at least this deviation from 1
constexpr double kWidest = 3.0;      // the axis ends at the extreme ratios times this factor

const char* kind_of(const RowComparison& row, bool across_machines) {
  if (row.verdict == RowVerdict::faster) return "better";
  if (row.verdict == RowVerdict::slower) return "worse";
  if (!across_machines) return "open";
  return row.effect.low > 1 ? "better" : row.effect.high < 1 ? "worse" : "open";
}

std::string verdict_of(const RowComparison& row) {
  return row.verdict == RowVerdict::no_verdict ? "no verdict" : name_of(row.verdict);
}

std::pair<double, double> ratio_axis(const Comparison& comparison) {
  double low = 1 / (1 + kNarrowest), high = 1 + kNarrowest, least = 1, most = 1;
  for (const RowComparison& row : comparison.rows)
    if (row.refused.empty()) {
      least = std::min(least, row.effect.ratio);
      most = std::max(most, row.effect.ratio);
      low = std::min({low, row.effect.low, 1 / (1 + 1.5 * row.margin)});
      high = std::max({high, row.effect.high, 1 + 1.5 * row.margin});
    }
  const double room = std::pow(high / low, 0.03);
  return {std::max(low, least / kWidest) / room, std::min(high, most * kWidest) * room};
}

json ratio_values(const RowComparison& row, const Comparison& comparison, double low, double high) {
  json values = {{"row", row.id}};
  if (!row.refused.empty()) {
    values["label"] = "not compared: " + row.refused.front();
    return values;
  }
  const Effect& effect = row.effect;
  const std::string ratio = fmt::format("{:.3f} ({:.3f} to {:.3f})", effect.ratio, effect.low, effect.high);
  values.update({{"kind", kind_of(row, comparison.across_machines)},
                 {"verdict", verdict_of(row)},
                 {"reason", row.reason},
                 {"ratio", effect.ratio},
                 {"low", effect.low},
                 {"high", effect.high},
                 {"coverage", fmt::format("{:.1f} %", 100 * effect.coverage)},
                 {"margin", fmt::format("{:.1f} %", 100 * row.margin)},
                 {"runs", fmt::format("{}+{}{}", effect.a, effect.b, effect.paired ? ", side by side" : "")},
                 {"a_s", row.a_s},
                 {"b_s", row.b_s},
                 {"axis_low", low},
                 {"axis_high", high},
                 {"label", comparison.across_machines ? ratio : ratio + "  " + verdict_of(row)}});
  if (!comparison.across_machines)
    values.update({{"band_low", 1 / (1 + row.margin)}, {"band_high", 1 + row.margin}});
  return values;
}

json order_of(const Comparison& comparison) {
  json order = json::array();
  for (const RowComparison& row : comparison.rows) order.push_back(row.id);
  return order;
}

// Sets the height as a number, because Vega-Lite has no height per step in a chart as wide as its container.
void set_rows(json& spec, const json& order) {
  spec["/encoding/y/sort"_json_pointer] = order;
  spec["height"] = spec["height"].get<double>() * double(order.size());
}

std::string longer_or_shorter(const RowComparison& row) {
  return row.phases.empty() ? "the same"
                            : fmt::format("{:+.1f} %, most of it {}", 100 * (row.b_s / row.a_s - 1),
                                          row.phases.front().phase);
}

}  // namespace

bool fill_ratios(json& spec, const Comparison& comparison) {
  if (comparison.compared() == 0) return false;
  const auto [low, high] = ratio_axis(comparison);
  json values = json::array();
  for (const RowComparison& row : comparison.rows) values.push_back(ratio_values(row, comparison, low, high));
  spec["datasets"] = {{"rows", values}};
  set_rows(spec, order_of(comparison));
  json& x = spec["/layer/0/encoding/x"_json_pointer];
  x["scale"]["domain"] = {low, high};
  if (comparison.across_machines) x["title"] = "left of 1: B is slower; right: B is faster";
  return true;
}

bool fill_differences(json& spec, const Comparison& comparison, const Colours& phases) {
  json values = json::array(), order = json::array();
  for (const RowComparison& row : comparison.rows) {
    if (!row.refused.empty()) continue;
    order.push_back(row.id);
    values.push_back({{"row", row.id}, {"label", longer_or_shorter(row)}});
    for (const PhaseChange& change : row.phases) {
      const auto place = std::find_if(phases.begin(), phases.end(),
                                      [&](const NamedColour& entry) { return entry.name == change.phase; });
      values.push_back({{"row", row.id},
                        {"phase", change.phase},
                        {"ms", change.ms},
                        {"share", change.share},
                        {"position", place - phases.begin()}});
    }
  }
  spec["datasets"] = {{"changes", values}};
  set_rows(spec, order);
  json& colour = spec["/layer/0/encoding/color"_json_pointer];
  colour["scale"] = colour_scale(phases);
  colour["legend"]["values"] = present(phases, values, "phase");
  return values.size() > order.size();
}

}  // namespace harness
