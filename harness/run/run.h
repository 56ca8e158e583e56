// Running the planned rows of a matrix, or only saying what would be run.
#pragma once
#include <optional>
#include <ostream>

#include "harness/base/exit_code.h"
#include "harness/config/installation.h"
#include "harness/plan/schedule.h"
#include "harness/run/execution.h"

namespace harness {

// Prints the plan and the command of every rank, and runs nothing. `rerun`: of a run in request.out that is
// continued. Throws ConfigError or PreparationError. Returns the exit code.
int dry_run(const Installation& installation, const Request& request, const AxisValues& values,
            std::optional<Rerun> rerun, std::ostream& console);

// How long each run will take and, with --budget, which runs fit. Throws PreparationError when none does; the
// folder of the run is then free again.
Schedule schedule_of(const Installation& installation, const Request& request, Execution& execution);

// Runs the plan over and over, so that slow changes of the machine spread over all rows alike; Ctrl-C ends
// it. Stops before the next row when the rows took longer than predicted; what the budget left out is kept
// beside the records either way. Throws std::runtime_error when a record can't be kept.
void run_scheduled(Execution& execution, Schedule& schedule, double budget_s);

int exit_code_of(const Records& records);

}  // namespace harness
