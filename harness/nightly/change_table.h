// The table of all changes of a machine's rows and canaries.
#pragma once
#include <string>
#include <vector>

#include "harness/nightly/night_axis.h"
#include "harness/nightly/trend.h"
#include "harness/report/summary/grid.h"

namespace harness {

// A line per change, newest first.
Grid changes_grid(const std::vector<Trend>& trends, const std::string& machine, const NightAxis& axis);

}  // namespace harness
