// Running a matrix from start to report, and reporting again.
#pragma once
#include <ostream>

#include "harness/config/workshop.h"
#include "harness/plan/schedule.h"
#include "harness/run/execution.h"

namespace harness {

// kRegression: what was compared got slower.
enum ExitCode {
  kAllGood = 0,
  kRowFailed = 1,
  kBadInput = 2,
  kNothingRan = 3,
  kRegression = 4,
  kInterrupted = 130
};

// Throws ConfigError or PreparationError before anything has run. Returns the exit code.
int run_matrix(const Workshop& workshop, const Request& request, std::ostream& console);

// The same for what a run in request.out still lacks; `request` is continued_request().
int continue_matrix(const Workshop& workshop, const Request& request, Again again, std::ostream& console);

// How long each run will take and, with --budget, which runs fit. Throws PreparationError when none does; the
// folder of the run is then free again.
Schedule schedule_of(const Workshop& workshop, const Request& request, Execution& execution);

// Runs the plan over and over, so that slow changes of the machine spread over all rows alike; Ctrl-C ends
// it. Stops before the next row when the rows took longer than predicted; what the budget left out is kept
// beside the records either way. Throws std::runtime_error when a record can't be kept.
void run_scheduled(Execution& execution, Schedule& schedule, double budget_s);

// Table, figures and page of a run that has just ended. Throws std::runtime_error when a file can't be
// written.
void write_results(const Workshop& workshop, const fs::path& run, const Records& records,
                   std::ostream& console);
int exit_code_of(const Records& records);

// Rebuilds tables (and plots) of a finished run. Returns the exit code.
int rebuild_report(const Workshop& workshop, const fs::path& run, bool plots, std::ostream& console);

}  // namespace harness
