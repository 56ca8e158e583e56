#include "harness/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "harness/execution.h"
#include "harness/followers.h"
#include "harness/interrupt.h"
#include "harness/records.h"
#include "harness/report/figures.h"
#include "harness/report/page.h"
#include "harness/report/table.h"

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

// Runs the plan over and over, so that slow changes of the machine spread over all rows alike.
static void run_plan(Execution& execution) {
  int64_t most = 0, runs = 0;
  for (const PlannedRow& planned : execution.plan()) {
    most = std::max(most, execution.repeats_of(planned));
    runs += execution.repeats_of(planned);
  }
  LiveLine line(size_t(runs), isatty(STDERR_FILENO));
  for (int64_t repeat = 0; repeat < most; ++repeat)
    for (const PlannedRow& planned : execution.plan())
      if (repeat < execution.repeats_of(planned) && !execution.run(planned, repeat, line)) return;
}

void write_results(const Workshop& workshop, const fs::path& run, const std::vector<json>& records,
                   std::ostream& console) {
  if (!write_report(run, records, console)) return;
  write_figures(run, records, workshop.project, std::cerr);
  write_page(run, records, "", workshop.project, console);
}

int exit_code_of(const std::vector<json>& records) {
  bool ran = false, failed = false;
  for (const json& record : records) {
    const std::string status = record["status"];
    ran = ran || status != "SKIPPED";
    failed = failed || (status != "OK" && status != "SKIPPED");
  }
  return interrupted() ? kInterrupted : failed ? kRowFailed : ran ? kAllGood : kNothingRan;
}

int run_matrix(const Workshop& workshop, const Request& request, std::ostream& console) {
  if (launcher_of(request) == "env" && is_follower() && !request.dry_run)
    return follow(request, workshop.train_slice);
  const AxisValues values = ask_values(workshop);
  if (request.dry_run) {
    const auto plan = make_plan(checked_selection(workshop, request, values).rows, values, {}, request);
    console << describe_plan(plan);
    print_commands(workshop, request, values, plan, console);
    return kAllGood;
  }
  const auto execution = Execution::prepare(workshop, request, values);
  if (!execution) return kInterrupted;
  console << describe_plan(execution->plan()) << "records: " << execution->records_file().string()
          << std::endl;
  bool lost = false;
  try {
    run_plan(*execution);
    write_results(workshop, execution->folder(), execution->records(), console);
  } catch (const std::exception& error) {  // most likely a full disk: what finished is shown all the same
    std::cerr << "run_matrix: " << error.what() << '\n';
    lost = true;
    for (const Summary& summary : summarise(execution->records())) console << console_table(summary);
  }
  const int code = exit_code_of(execution->records());
  return lost && code != kInterrupted ? int(kRowFailed) : code;
}

int rebuild_report(const Workshop& workshop, const fs::path& run, bool plots, std::ostream& console) {
  std::ostringstream left_out;
  const auto records = read_records(run, left_out);
  std::cerr << left_out.str();
  if (!write_report(run, records, console, Shown::everything)) return kNothingRan;
  if (plots) write_figures(run, records, workshop.project, std::cerr);
  write_page(run, records, left_out.str(), workshop.project, console);
  return kAllGood;
}

}  // namespace harness
