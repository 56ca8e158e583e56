// One small chart per row and canary: seconds by night, levels, changes, failed nights.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/night_axis.h"
#include "harness/nightly/trend.h"

namespace harness {

// All series of one row (one after another, where its settings changed) or of one canary, on one machine.
struct TrendChart {
  std::string title;
  std::vector<const Trend*> series;
  bool alarm = false;  // the row itself slowed down, not its machine
};

// A chart per row, or per canary, in the order of the series.
std::vector<TrendChart> charts_of(const std::vector<Trend>& trends, const std::string& machine, bool canaries,
                                  const std::vector<Alarm>& alarms);

// plots/trend.vl.json with its data; `nights` is the name of the page's data made by NightAxis::values().
// `all` tells which canary is behind a change.
nlohmann::json chart_spec(nlohmann::json spec, const TrendChart& chart, const NightAxis& axis,
                          const std::string& nights, const std::vector<Trend>& all);

std::string change_in_percent(const ChangePoint& change);  // +9.8 %
std::string figure_text(double value, bool canary);        // 12.3 s, 3.21 ms
const Trend& newest(const std::vector<const Trend*>& series, const NightAxis& axis);

}  // namespace harness
