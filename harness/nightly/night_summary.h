// What a nightly tells at its end: rows with and without figures, lasting changes, and test cases and gauges
// for programs that watch it.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/analysis.h"
#include "harness/outputs/run_result.h"

namespace harness {

// The number of rows by status, and the reason of each row with a failed repeat; NOTHING WAS MEASURED if no
// row has a figure.
std::string rows_summary(const Night& night, const Records& records);

// One line per change with the metric's values before and after, and the cause. `alarms` and `improvements`:
// only those that have not been reported before.
std::string changes_summary(const Analysis& analysis, const std::vector<Alarm>& alarms,
                            const std::vector<Alarm>& improvements, const Metric& metric = seconds());

// Each fault of a GPU fails a case. `alarms`: those of the analysis that no earlier night has reported. A row
// fails if it became slower and the machine did not; it is skipped if the machine did, or if its series is
// too short for an answer.
void add_night(RunResult& result, const Night& night, const Analysis& analysis,
               const std::vector<Alarm>& alarms);

}  // namespace harness
