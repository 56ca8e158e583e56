// The text at the end of a nightly: rows with and without figures, and lasting changes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/analysis.h"

namespace harness {

// The number of rows by status, and the reason of each row with a failed repeat; NOTHING WAS MEASURED if no
// row has a figure.
std::string rows_summary(const Night& night, const Records& records);

// One line per change with the metric's values before and after, and the cause. `alarms` and `improvements`:
// only those that have not been reported before.
std::string changes_summary(const Analysis& analysis, const std::vector<Alarm>& alarms,
                            const std::vector<Alarm>& improvements, const Metric& metric = seconds());

}  // namespace harness
