// The last night in words: alarms, what failed, canaries; and the changes of a machine's rows as a table.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/slots.h"
#include "harness/nightly/trend.h"
#include "harness/report/grid.h"

namespace harness {

// Blocks for plots/report.js: alarms first.
nlohmann::json last_night_blocks(const std::vector<Trend>& trends, const std::vector<Alarm>& alarms,
                                 const std::vector<Night>& nights, const std::vector<std::string>& machines);

// A line per change of a row or canary of that machine, newest first.
Grid changes_grid(const std::vector<Trend>& trends, const std::string& machine, const Slots& slots);

}  // namespace harness
