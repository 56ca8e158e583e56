// Writes what programs that watch runs read, as a request names the files.
#pragma once
#include <ostream>

#include "harness/config/request.h"
#include "harness/outputs/run_result.h"

namespace harness {

bool asks_for_outputs(const Request& request);

// Throws PreparationError before a run if an output could not be written after it.
void check_outputs(const Request& request);

// Replaces each file that the request names. `--github`: annotations to `console`, the summary to the file in
// GITHUB_STEP_SUMMARY, and the run's folder as output `run` of the step. Throws std::runtime_error if a write
// fails.
void write_outputs(const Request& request, const RunResult& result, std::ostream& console);

}  // namespace harness
