#include "harness/run/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>

#include "harness/base/failure_text.h"
#include "harness/base/interrupt.h"
#include "harness/base/machine.h"
#include "harness/config/request_file.h"
#include "harness/launch/followers.h"
#include "harness/report/figures.h"
#include "harness/report/page.h"
#include "harness/report/table.h"
#include "harness/run/execution.h"
#include "harness/stats/records.h"

namespace harness {

using nlohmann::json;

static void print_commands(const Workshop& workshop, const Request& request, const AxisValues& values,
                           const std::vector<PlannedRow>& plan, std::ostream& console) {
  for (const PlannedRow& planned : plan) {
    if (!planned.skip_reason.empty()) continue;
    LaunchSetting setting;
    setting.directory = fs::path("RUN/rows") / (planned.row.id + "-repeat0");
    for (const Command& command : rank_commands(planned.row, values, workshop, request, setting).commands)
      console << planned.row.id << ": " << shell_line(command) << '\n';
  }
}

void run_scheduled(Execution& execution, Schedule& schedule, double budget_s) {
  using Clock = std::chrono::steady_clock;
  LiveLine line(schedule.runs.size(), isatty(STDERR_FILENO), schedule.seconds);
  const Clock::time_point begin = Clock::now();
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    const RowRun& run = schedule.runs[i];
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

static Schedule schedule_of(const Workshop& workshop, const Request& request, const Scale& scale,
                            const std::vector<PlannedRow>& plan, const std::vector<RowRun>& runs) {
  const std::vector<Taken> taken = read_taken(workshop.results / "runs");
  const auto machine = decode<RecordMachine>(describe_machine());
  std::vector<Prediction> of_rows;
  for (const PlannedRow& planned : plan) of_rows.push_back(predict(planned.row, scale, machine, taken));
  return make_schedule(plan, runs, of_rows, request.budget_s);
}

Schedule schedule_of(const Workshop& workshop, const Request& request, Execution& execution) try {
  return schedule_of(workshop, request, execution.scale(), execution.plan(), execution.runs());
} catch (const PreparationError&) {
  execution.discard();
  throw;
}

void write_results(const Workshop& workshop, const fs::path& run, const Records& records,
                   std::ostream& console) {
  const std::vector<Summary> summaries = summarise(records);
  if (!write_report(run, summaries, console)) return;
  write_figures(run, summaries, workshop.project, std::cerr);
  if (interrupts() < 2) write_page(run, records, summaries, "", workshop.project, console);
  show_left_out(run, console);
}

int exit_code_of(const Records& records) {
  bool ran = false, failed = false;
  for (const Record& record : records) {
    const std::string& status = record.status;
    ran = ran || status != "SKIPPED";
    failed = failed || (status != "OK" && status != "SKIPPED");
  }
  return interrupted() ? kInterrupted : failed ? kRowFailed : ran ? kAllGood : kNothingRan;
}

static int dry_run(const Workshop& workshop, const Request& request, const AxisValues& values,
                   std::optional<Again> again, std::ostream& console) {
  const Selection selection = checked_selection(workshop, request, values);
  const auto plan = make_plan(selection, values, {}, request);
  std::vector<RowRun> runs = all_runs(plan, request);
  if (again) runs = runs_left(plan, runs, read_records(request.out, std::cerr), *again);
  const Schedule schedule = schedule_of(workshop, request, selection.scale, plan, runs);
  console << describe_plan(plan, selection.scale) << schedule.described;
  std::vector<PlannedRow> scheduled;  // each once
  for (size_t row = 0; row < plan.size(); ++row)
    if (std::any_of(schedule.runs.begin(), schedule.runs.end(),
                    [&](const auto& run) { return run.row == row; }))
      scheduled.push_back(plan[row]);
  print_commands(workshop, request, values, scheduled, console);
  return kAllGood;
}

static int run_and_report(const Workshop& workshop, const Request& request, Execution& execution,
                          std::ostream& console) {
  Schedule schedule = schedule_of(workshop, request, execution);
  console << describe_plan(execution.plan(), execution.scale()) << schedule.described
          << "records: " << execution.records_file().string() << std::endl;
  bool lost = false;
  try {
    run_scheduled(execution, schedule, request.budget_s);
    write_results(workshop, execution.folder(), execution.records(), console);
  } catch (const PreparationError&) {
    throw;
  } catch (const std::exception& error) {  // most likely a full disk: what finished is shown all the same
    std::cerr << "run_matrix: " << base::failure_text(error) << '\n';
    lost = true;
    for (const Summary& summary : summarise(execution.records())) console << console_table(summary);
  }
  const int code = exit_code_of(execution.records());
  return lost && code != kInterrupted ? int(kRowFailed) : code;
}

int run_matrix(const Workshop& workshop, const Request& request, std::ostream& console) {
  if (launcher_of(request) == "env" && is_follower() && !request.dry_run)
    return follow(request, workshop.train_slice);
  const AxisValues values = ask_values(workshop);
  if (request.dry_run) return dry_run(workshop, request, values, std::nullopt, console);
  const auto execution = Execution::prepare(workshop, request, values);
  return execution ? run_and_report(workshop, request, *execution, console) : int(kInterrupted);
}

int continue_matrix(const Workshop& workshop, const Request& request, Again again, std::ostream& console) {
  const AxisValues values = ask_values(workshop);
  if (request.dry_run) return dry_run(workshop, request, values, again, console);
  const auto execution = Execution::continue_in(workshop, request, values, again);
  if (!execution) return kInterrupted;
  if (execution->runs().empty())
    console << request.out.string() << ": nothing is left to run"
            << (again == Again::failed ? " again: no row failed" : "") << '\n';
  else
    write_request(request.out, request);  // repeats may be more now
  return run_and_report(workshop, request, *execution, console);
}

int rebuild_report(const Workshop& workshop, const fs::path& run, bool plots, std::ostream& console) {
  std::ostringstream left_out;
  const auto records = read_records(run, left_out);
  std::cerr << left_out.str();
  const std::vector<Summary> summaries = summarise(records);
  if (!write_report(run, summaries, console, Shown::everything)) return kNothingRan;
  if (plots) write_figures(run, summaries, workshop.project, std::cerr);
  write_page(run, records, summaries, left_out.str(), workshop.project, console);
  show_left_out(run, console);
  return kAllGood;
}

}  // namespace harness
