// The last night as text for the page: alarms, failed rows, canaries.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

// Blocks for plots/report.js: alarms first.
nlohmann::json last_night_blocks(const std::vector<Trend>& trends, const std::vector<Alarm>& alarms,
                                 const std::vector<Night>& nights, const std::vector<std::string>& machines,
                                 const Metric& metric);

}  // namespace harness
