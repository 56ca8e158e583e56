// What a nightly says at its end: which rows have figures, which don't and why, and what has changed.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/analysis.h"

namespace harness {

// Rows by status, with the reason of each that isn't OK in every repeat; NOTHING WAS MEASURED where no row
// has a figure.
std::string rows_summary(const Night& night, const Records& records);

// One line for each change, before and after in seconds and who did it. `alarms` and `improvements`: those
// that are news.
std::string changes_summary(const Analysis& analysis, const std::vector<Alarm>& alarms,
                            const std::vector<Alarm>& improvements);

}  // namespace harness
