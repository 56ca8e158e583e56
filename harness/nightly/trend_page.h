// trend.html: the result of the last night, then every row and canary by night.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

// Writes trend.html for seconds, otherwise trend-METRIC.html. `nights`: oldest first, of which the last has a
// figure of a row; `trends` and `alarms`: the analysis of their `metric`. `only`: to what the nights were
// restricted, which is then a part of the title and of the file's name, because trend.html is of the whole
// history. Without the renderer in source_dir/.venv, the page has only tables and says how to get the charts.
// Throws std::runtime_error if a write fails.
void write_trend_page(const std::filesystem::path& folder, const std::vector<Trend>& trends,
                      const std::vector<Alarm>& alarms, const std::vector<Night>& nights,
                      const std::filesystem::path& source_dir, std::ostream& console,
                      const Metric& metric = seconds(), const std::string& only = "");

// Blocks for plots/report.js: alarms first.
nlohmann::json last_night_blocks(const std::vector<Trend>& trends, const std::vector<Alarm>& alarms,
                                 const std::vector<Night>& nights, const std::vector<std::string>& machines,
                                 const Metric& metric);

}  // namespace harness
