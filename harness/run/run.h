// Runs the planned rows of a matrix, or only prints the commands.
#pragma once
#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <string>

#include "harness/base/exit_code.h"
#include "harness/config/installation.h"
#include "harness/plan/repeats.h"
#include "harness/plan/schedule.h"
#include "harness/run/execution.h"

namespace harness {

// Prints the plan and the command of every rank without running it. `rerun`: when continuing the run in
// request.out. `forecast`: called with a record
// of each planned row, without figures; its text follows the plan. With request.machine the plan is for that
// machine. Throws ConfigError or PreparationError. Returns the exit code.
int dry_run(const Installation& installation, const Request& request, const AxisValues& values,
            std::optional<Rerun> rerun, std::ostream& console,
            const std::function<std::string(const Records&)>& forecast = {});

// Predicts the duration of each run and, with --budget, selects the runs that fit. When none fits, removes
// the run's files and throws PreparationError.
Schedule schedule_of(const Installation& installation, const Request& request, Execution& execution);

using RoundEnded = std::function<std::optional<std::set<std::string>>()>;

// Runs the schedule in order until its end or Ctrl-C, then what `again` allows. `round_ended`: called after
// the schedule and after each round of repeats; returns the rows that come first from then on
// (RepeatRules::first), nullopt where no more rounds are wanted. With a budget, leaves
// out the runs that are left when it is used up. Writes left_out.txt. Throws std::runtime_error when a record
// can't be written.
void run_scheduled(Execution& execution, Schedule& schedule, double budget_s, const RepeatRules& again = {},
                   const RoundEnded& round_ended = {});

// kInterrupted, kRowFailed, kAllGood, or kNothingRan when all rows were skipped.
int exit_code_of(const Records& records);

}  // namespace harness
