#include "harness/run/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>

#include "harness/base/interrupt.h"
#include "harness/config/request_file.h"
#include "harness/contract/machine.h"
#include "harness/contract/run_command.h"
#include "harness/run/execution.h"
#include "harness/stats/records.h"

namespace harness {

using nlohmann::json;

// One line per row that runs it alone when it is pasted, and as comments the commands that it starts for the
// ranks: those need the row's folder with job.json, which exists only during the run.
static void print_commands(const Installation& installation, const Request& request, const AxisValues& values,
                           const std::vector<PlannedRow>& plan, std::ostream& console) {
  const std::string program = installation.project / "run_matrix";
  console
      << "\nOne row per line, to be pasted into a shell; below it the commands of its ranks, where RUN is "
         "the run's folder:\n";
  for (const PlannedRow& planned : plan) {
    if (!planned.skip_reason.empty()) continue;
    Request alone = request;
    alone.only = planned.row.id;
    console << run_command(program, encode(alone), {}) << '\n';
    LaunchSetting setting;
    setting.directory = fs::path("RUN/rows") / (planned.row.id + "-repeat0");
    for (const base::Command& command :
         rank_commands(planned.row, values, installation, request, setting).commands)
      console << "#   " << base::shell_line(command) << '\n';
  }
}

void run_scheduled(Execution& execution, Schedule& schedule, double budget_s) {
  using Clock = std::chrono::steady_clock;
  LiveLine line(schedule.runs.size(), isatty(STDERR_FILENO), schedule.seconds);
  const Clock::time_point begin = Clock::now();
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    const Repetition& run = schedule.runs[i];
    const PlannedRow& planned = execution.plan()[run.row];
    if (budget_s > 0 && planned.skip_reason.empty() &&
        std::chrono::duration<double>(Clock::now() - begin).count() >= budget_s)
      schedule.left_out.push_back({planned.row.id, schedule.seconds[i],
                                   fmt::format("repeat {}: the budget was used up", run.repeat), true});
    else if (!execution.run(planned, run.repeat, line))
      break;
  }
  write_left_out(execution.folder(), schedule.left_out);
}

static Schedule schedule_of(const Installation& installation, const Request& request, const Scale& scale,
                            const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs) {
  const std::vector<PastDuration> past = read_past_durations(installation.results / "runs");
  const RecordMachine machine = describe_machine();
  std::vector<Prediction> of_rows;
  for (const PlannedRow& planned : plan) of_rows.push_back(predict(planned.row, scale, machine, past));
  return make_schedule(plan, runs, of_rows, request.budget_s);
}

Schedule schedule_of(const Installation& installation, const Request& request, Execution& execution) try {
  return schedule_of(installation, request, execution.scale(), execution.plan(), execution.runs());
} catch (const PreparationError&) {
  execution.discard();
  throw;
}

int exit_code_of(const Records& records) {
  bool ran = false, failed = false;
  for (const Record& record : records) {
    const std::string& status = record.status;
    ran = ran || status != "SKIPPED";
    failed = failed || (status != "OK" && status != "SKIPPED");
  }
  return base::interrupted() ? base::kInterrupted
         : failed            ? base::kRowFailed
         : ran               ? base::kAllGood
                             : base::kNothingRan;
}

int dry_run(const Installation& installation, const Request& request, const AxisValues& values,
            std::optional<Rerun> rerun, std::ostream& console) {
  const Selection selection = checked_selection(installation, request, values);
  const auto plan = make_plan(selection, values, {}, request);
  std::vector<Repetition> runs = all_runs(plan, request);
  if (rerun) runs = runs_left(plan, runs, read_records(request.out, std::cerr), *rerun);
  const Schedule schedule = schedule_of(installation, request, selection.scale, plan, runs);
  console << describe_plan(plan, selection.scale) << schedule.described;
  std::vector<PlannedRow> scheduled;  // each row once
  for (size_t row = 0; row < plan.size(); ++row)
    if (std::any_of(schedule.runs.begin(), schedule.runs.end(),
                    [&](const auto& run) { return run.row == row; }))
      scheduled.push_back(plan[row]);
  print_commands(installation, request, values, scheduled, console);
  return base::kAllGood;
}

}  // namespace harness
