// Locks the host, measures canaries around the rows, stores the night, and reports new alarms.
#include "harness/nightly/nightly.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "harness/base/failure_text.h"
#include "harness/base/file.h"
#include "harness/base/file_lock.h"
#include "harness/base/interrupt.h"
#include "harness/base/machine.h"
#include "harness/base/stopwatch.h"
#include "harness/base/time_stamp.h"
#include "harness/launch/followers.h"
#include "harness/nightly/analysis.h"
#include "harness/nightly/history.h"
#include "harness/nightly/machine_health.h"
#include "harness/nightly/night_summary.h"
#include "harness/nightly/open_night.h"
#include "harness/nightly/trend.h"
#include "harness/nightly/trend_page.h"
#include "harness/outputs/outputs.h"
#include "harness/plan/prediction.h"
#include "harness/report/results.h"
#include "harness/report/summary/grid.h"
#include "harness/run/run.h"

namespace harness {
namespace {

// What lock_nights() of the holder has written.
std::string holder_of(const fs::path& lock_file) try {
  const std::string text = base::read_file(lock_file);
  return text.empty() ? "it has just started" : one_line(text);
} catch (const std::runtime_error&) {
  return "its lock can't be read";
}

// Allows only one nightly at a time on a host, because two would slow each other down. Each host has its own
// lock file in the history, with pid and start time of its last holder. Throws PreparationError naming the
// holder, or when the file can't be written.
base::FileLock lock_nights(const fs::path& history, const std::string& host) {
  std::error_code error;
  fs::create_directories(history, error);
  if (error)
    throw PreparationError(fmt::format("{}: can't be created: {}; choose a writable folder with --history",
                                       history.string(), error.message()));
  const fs::path file = history / fmt::format("{}{}.lock", kNightsLock, host);
  base::FileLock lock = base::FileLock::try_exclusive(file);
  if (lock.another_holds())
    throw PreparationError(fmt::format("another nightly is running on {}: {}; wait until it ends ({})", host,
                                       holder_of(file), file.string()));
  if (!lock.holds())
    throw PreparationError(fmt::format(
        "{}{}: can't be locked: {}; choose a writable folder with --history, on a file system with locks",
        file.string(), base::owner_in_words(file), std::strerror(lock.error())));
  // Only for the message above, so an error is ignored: a full disk is reported when the night is written.
  std::ofstream(file) << fmt::format("pid {}, since {}", ::getpid(), base::time_stamp_now());
  return lock;
}

// The name of the run's folder, which consists of time and host unless it was chosen with --out.
std::string wanted_id(const Request& request, const fs::path& run) {
  return request.out.empty() ? run.filename().string() : base::time_and_host();
}

bool keep(History& history, const OpenNight& open, const Night& night) {
  const bool kept = base::survives([&] {
    write_open_night(history.folder(), open);
    history.append(night);
  });
  if (kept)
    close_night(history.folder(), open.id);
  else
    fmt::print(std::cerr,
               "night {} isn't in the history: its records stay in {}, and the next nightly adds them\n",
               night.id, night.run);
  return kept;
}

struct Told {
  bool page_written = false;
  Analysis analysis;
  std::vector<Alarm> alarms;  // those of the analysis that no earlier night has reported
};

// Reports lasting changes that no earlier night has reported.
// `fleet_host`: whose nights alone these are, of a history of many hosts; else empty.
Told tell_changes(const Installation& installation, const History& history, const Night& night,
                  const std::string& fleet_host, std::ostream& console) {
  // The last, although another host's night that began later may have ended before it.
  std::vector<Night> nights = history.nights();
  std::erase_if(nights, [&](const Night& one) { return one.id == night.id; });
  nights.push_back(night);
  Analysis analysis = analyse(nights, night, installation.noise(), installation.project, std::cerr);
  // Both, because the number of hosts may have been another when an alarm was reported.
  std::vector<fs::path> files = {history.folder() / "alarms.jsonl",
                                 history.folder() / ("alarms-" + encoded(night.host) + ".jsonl")};
  if (!fleet_host.empty()) std::swap(files[0], files[1]);
  AnnouncedAlarms announced(files, std::cerr);
  std::vector<Alarm> alarms = announced.news(analysis.alarms, analysis.trends);
  const std::vector<Alarm> improvements = announced.news(analysis.improvements, analysis.trends);
  console << changes_summary(analysis, alarms, improvements) << std::flush;
  const bool written = base::survives([&] {
    write_trend_page(history.folder(), analysis.trends, analysis.alarms, nights, installation.project,
                     console, seconds(), fleet_host);
  });
  announced.add(alarms,
                night.id);  // after the report: if the program ends in between, they are reported again
  announced.add(improvements, night.id);
  return {written, std::move(analysis), std::move(alarms)};
}

// What was asked for, and without being asked two files beside the records, and in a step of GitHub Actions
// its summary.
Request with_outputs(Request request, const fs::path& run) {
  if (request.junit.empty()) request.junit = run / "junit.xml";
  if (request.prometheus.empty()) request.prometheus = run / "metrics.prom";
  request.github = request.github || std::getenv("GITHUB_STEP_SUMMARY");
  return request;
}

}  // namespace

fs::path history_folder(const Installation& installation, const fs::path& asked) {
  return asked.empty() ? installation.results / "history" : fs::absolute(asked);
}

int run_nightly(const Installation& installation, const Request& request, const NightlyRequest& nightly,
                std::ostream& console) {
  Request asked = request;
  if (asked.repeats == 0) asked.repeats = kRunsOfANight;
  const bool follows = launcher_of(asked) == "env" && is_follower();
  if (asked.dry_run) return dry_run(installation, asked, ask_values(installation), std::nullopt, console);
  if (follows) return follow(asked, installation);

  check_outputs(asked);
  const fs::path folder = history_folder(installation, nightly.history);
  const std::string host = base::host_name();
  const base::FileLock lock = lock_nights(folder, host);
  const bool fleet = hosts_lately(folder).size() > kMostHostsOfATrend;
  History history(folder, std::cerr, installation.project, fleet ? host : "");
  if (fleet)
    console << fmt::format(
        "many hosts write to {}: this night is compared with those of {} alone, and "
        "`./run_matrix fleet {}` compares hosts\n",
        folder.string(), host, folder.string());
  adopt_open_nights(history, host, console);

  const AxisValues values = ask_values(installation);
  const auto execution = Execution::prepare(installation, asked, values);
  if (!execution) return base::kInterrupted;
  Schedule schedule = schedule_of(installation, asked, *execution);
  console << describe_plan(execution->plan(), execution->scale()) << schedule.described
          << "records: " << execution->records_file().string() << std::endl;
  const base::Stopwatch canaries;
  const Canaries before = measure_canaries(installation.train_slice, console);
  const double canaries_s = canaries.s();
  console << fmt::format("canaries took {}; they run again after the rows, so that about {} are left\n",
                         duration_text(canaries_s), duration_text(schedule.seconds + canaries_s + kReport_s))
          << std::flush;
  OpenNight open{new_night_id(history, wanted_id(asked, execution->folder())), one_line(nightly.tag), host,
                 execution->folder(), before};
  write_open_night(folder, open);

  RepeatRules again = execution->repeat_rules();  // disturbed rows run again
  if (asked.repeat_within_s < 0 && asked.budget_s == 0) again.limit_s += schedule.seconds;
  const bool recorded = base::survives([&] { run_scheduled(*execution, schedule, asked.budget_s, again); });
  const Records& records = execution->records();
  if (records.empty()) {
    close_night(folder, open.id);
    return base::interrupted() ? int(base::kInterrupted) : int(base::kNothingRan);
  }
  const bool cut_by_budget = std::ranges::any_of(schedule.left_out, &LeftOut::used_up);
  open.finished = recorded && !base::interrupted() && !cut_by_budget;
  std::string moved;
  if (recorded && !base::interrupted()) {
    const Canaries after = measure_canaries(installation.train_slice, console);
    open.canaries = canaries_of_night(before, after);
    moved = moved_canaries(before, after);
  }
  const Night night = night_of(open, records);
  const bool kept = keep(history, open, night);
  if (nightly.report)
    base::survives([&] { write_results(installation.project, execution->folder(), records, console); });
  show_left_out(execution->folder(), console);

  console << rows_summary(night, records) << moved << std::flush;
  if (base::interrupted()) return base::kInterrupted;
  const bool measured = std::ranges::any_of(night.rows, &NightRow::ok);
  Told told;
  const bool examined =
      !measured || (base::survives([&] {
                      told = tell_changes(installation, history, night, fleet ? host : "", console);
                    }) &&
                    told.page_written);
  const bool written = base::survives([&] {
    RunResult result = result_of_run(execution->folder(), records);
    add_night(result, night, told.analysis, told.alarms);
    write_outputs(with_outputs(asked, execution->folder()), result, console);
  });
  if (std::ranges::none_of(records, is_ok)) return base::kNothingRan;
  if (!recorded || !kept || !examined || !written || exit_code_of(records) == base::kRowFailed)
    return base::kRowFailed;
  return regressions(told.alarms) > 0 ? base::kRegression : base::kAllGood;
}

}  // namespace harness
