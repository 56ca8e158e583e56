// trend.html: the result of the last night, then every row and canary by night.
#pragma once
#include <filesystem>
#include <ostream>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

// trend.html for seconds, otherwise trend-METRIC.html.
std::string trend_page_name(const Metric& metric);

// `nights`: oldest first; `trends` and `alarms`: the analysis of their `metric`. Without the renderer in
// source_dir/.venv, the page has only tables and says how to get the charts. Throws std::runtime_error if a
// write fails.
void write_trend_page(const std::filesystem::path& folder, const std::vector<Trend>& trends,
                      const std::vector<Alarm>& alarms, const std::vector<Night>& nights,
                      const std::filesystem::path& source_dir, std::ostream& console,
                      const Metric& metric = seconds());

}  // namespace harness
