// One small chart per row and canary: figure by night, levels, changes, failed nights.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/night_axis.h"
#include "harness/nightly/trend.h"

namespace harness {

// All series of one row or one canary on one machine. A row has a new series when its settings change.
struct TrendChart {
  std::string title;
  std::vector<const Trend*> series;
  bool alarm = false;  // the row itself became worse, not the machine
};

// One chart per row (or with `canaries` per canary), in the order of the series.
std::vector<TrendChart> charts_of(const std::vector<Trend>& trends, const std::string& machine, bool canaries,
                                  const std::vector<Alarm>& alarms);

// Fills plots/trend.vl.json in `source_dir`. `nights`: the name of the page's data from NightAxis::values().
// `all`: all trends, to find the canary behind a change.
nlohmann::json chart_spec(const std::filesystem::path& source_dir, const TrendChart& chart,
                          const NightAxis& axis, const std::string& nights, const std::vector<Trend>& all);

std::string change_in_percent(const ChangePoint& change);  // `+9.8 %`
// The series with the latest night.
const Trend& newest(const std::vector<const Trend*>& series, const NightAxis& axis);

}  // namespace harness
