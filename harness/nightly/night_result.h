// What a night adds to the result of its run: whether each row is as fast as in earlier nights, and the
// canaries.
#pragma once
#include <vector>

#include "harness/nightly/analysis.h"
#include "harness/outputs/run_result.h"

namespace harness {

// Each fault of a GPU fails a case. `alarms`: those of the analysis that no earlier night has reported. A row
// fails if it became slower and the machine did not; it is skipped if the machine did, or if its series is
// too short for an answer.
void add_night(RunResult& result, const Night& night, const Analysis& analysis,
               const std::vector<Alarm>& alarms);

}  // namespace harness
