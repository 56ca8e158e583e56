// trend.html: what the last night says, then every row and canary night by night.
#pragma once
#include <filesystem>
#include <ostream>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

// `trends` and `alarms` are those of `nights`, which stand oldest first. Without the renderer in source_dir
// the page has its tables and says how to get the charts. Throws std::runtime_error when it can't be written.
void write_trend_page(const std::filesystem::path& folder, const std::vector<Trend>& trends,
                      const std::vector<Alarm>& alarms, const std::vector<Night>& nights,
                      const std::filesystem::path& source_dir, std::ostream& console);

}  // namespace harness
