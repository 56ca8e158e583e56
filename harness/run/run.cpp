// Works through the schedule and then through further repeats, with the progress line and the time left.
#include "harness/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <utility>

#include "harness/base/interrupt.h"
#include "harness/base/process_limits.h"
#include "harness/base/stopwatch.h"
#include "harness/config/machine_file.h"
#include "harness/config/request.h"
#include "harness/contract/machine.h"
#include "harness/plan/prediction.h"
#include "harness/run/execution.h"
#include "harness/run/time_scale.h"
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

static std::vector<size_t> rows_of(const std::vector<Repetition>& runs) {
  std::vector<size_t> rows;
  for (const Repetition& run : runs) rows.push_back(run.row);
  return rows;
}

// Runs after the scheduled ones.
static void run_repeats(Execution& execution, RepeatRules rules, TimeLeft& time, LiveLine& line,
                        const base::Stopwatch& watch, const RoundEnded& round_ended) {
  int64_t round = 0;
  while (!base::interrupted()) {
    const auto next = next_run(execution.plan(), execution.records(), execution.attempts(), rules, watch.s(),
                               [&](size_t row) { return time.run_s(row); });
    if (!next) return;
    if (round_ended && !next->attempt && next->run.repeat != std::exchange(round, next->run.repeat)) {
      const auto first = round_ended();  // all runs of the round before have ended
      if (!first) return;
      rules.first = *first;
      continue;
    }
    const PlannedRow& planned = execution.plan()[next->run.row];
    line.set_label(next->attempt ? "again, because it was disturbed"
                                 : fmt::format("run {}", next->run.repeat + 1));
    const double before_s = watch.s();
    if (!execution.run(planned, next->run.repeat, line, {.attempt = next->attempt})) return;
    time.ended(next->run.row, watch.s() - before_s);
  }
}

void run_scheduled(Execution& execution, Schedule& schedule, double budget_s, const RepeatRules& again,
                   const RoundEnded& round_ended) {
  TimeLeft time(schedule.of_rows, rows_of(schedule.runs), rounds_of(again), again.limit_s);
  const base::Stopwatch watch;
  LiveLine line(schedule.runs.size(),
                [&](double running_s, double left_s) { return time.rest_s(watch.s() + left_s, running_s); });
  bool whole = true;
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    const Repetition& run = schedule.runs[i];
    const PlannedRow& planned = execution.plan()[run.row];
    const double before_s = watch.s();
    if (budget_s > 0 && planned.skip_reason.empty() && before_s >= budget_s)
      schedule.left_out.push_back(
          {planned.row.id, fmt::format("repeat {}: the budget was used up", run.repeat), true});
    else if (!execution.run(planned, run.repeat, line)) {
      whole = false;
      for (; i < schedule.runs.size(); ++i)
        schedule.left_out.push_back(
            {execution.plan()[schedule.runs[i].row].row.id,
             fmt::format("repeat {}: the run was interrupted", schedule.runs[i].repeat)});
      break;
    }
    time.ended(run.row, watch.s() - before_s);
  }
  if (whole) run_repeats(execution, again, time, line, watch, round_ended);
  write_left_out(execution.folder(), schedule.left_out);
}

static Schedule schedule_of(const Installation& installation, const Request& request, const Scale& scale,
                            const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                            const RecordMachine& machine) {
  const std::vector<PastDuration> past = read_past_durations(installation.results / "runs");
  std::vector<Prediction> of_rows;
  for (const PlannedRow& planned : plan) of_rows.push_back(predict(planned, scale, machine, past));
  Schedule schedule = make_schedule(plan, runs, of_rows, request.budget_s);
  if (request.machine.empty())
    for (const std::string& note : base::process_limits().notes) schedule.described += note + "\n";
  return schedule;
}

Schedule schedule_of(const Installation& installation, const Request& request, Execution& execution) try {
  return schedule_of(installation, request, execution.scale(), execution.plan(), execution.runs(),
                     describe_machine());
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
            std::optional<Rerun> rerun, std::ostream& console,
            const std::function<std::string(const Records&)>& forecast) {
  if (!request.data.empty() && request.machine.empty() && !fs::is_directory(request.data))
    throw PreparationError(request.data.string() +
                           ": no such folder; --data names the folder that holds train");
  const RecordMachine machine = request.machine.empty() ? describe_machine() : read_machine(request.machine);
  const Selection selection = checked_selection(installation, request, values);
  auto plan = make_plan(selection, values, request, machine);
  check_validation(plan, request.data);
  const DataSets no_data;
  const RecordBuild build = describe_build();
  const RowSetting setting{installation,           request, values, selection.scale, no_data, machine, build,
                           selection.device_files, "RUN"};
  if (selection.scale.slowest_time_scale > 0 && !sets(request, "time_scale"))
    choose_time_scales(
        setting, plan,
        (request.machine.empty() ? measure_decoding(installation, selection.rows.front()) : std::nullopt)
            .value_or(kCoreDecodes * double(machine.cores.value_or(1))));
  std::vector<Repetition> runs = all_runs(plan, request);
  if (rerun) runs = runs_left(plan, runs, read_records(request.out, std::cerr), *rerun);
  const Schedule schedule = schedule_of(installation, request, selection.scale, plan, runs, machine);
  console << describe_plan(plan, selection.scale) << schedule.described;
  if (forecast) {
    Records records;
    for (const PlannedRow& planned : plan) records.push_back(planned_record(setting, planned));
    console << forecast(records);
  }
  std::vector<PlannedRow> scheduled;  // each row once
  for (size_t row = 0; row < plan.size(); ++row)
    if (std::ranges::any_of(schedule.runs, [&](const auto& run) { return run.row == row; }))
      scheduled.push_back(plan[row]);
  print_commands(installation, request, values, scheduled, console);
  return base::kAllGood;
}

}  // namespace harness
