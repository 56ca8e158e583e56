// trend.html: the result of the last night, then every row and canary by night.
#pragma once
#include <filesystem>
#include <ostream>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

// `nights`: oldest first; `trends` and `alarms`: their analysis. Without the renderer in source_dir/.venv,
// the page has only tables and says how to get the charts. Throws std::runtime_error if a write fails.
void write_trend_page(const std::filesystem::path& folder, const std::vector<Trend>& trends,
                      const std::vector<Alarm>& alarms, const std::vector<Night>& nights,
                      const std::filesystem::path& source_dir, std::ostream& console);

}  // namespace harness
