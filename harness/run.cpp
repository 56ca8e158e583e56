#include "harness/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <list>
#include <optional>
#include <sstream>

#include "harness/followers.h"
#include "harness/interrupt.h"
#include "harness/machine.h"
#include "harness/node_copies.h"
#include "harness/records.h"
#include "harness/report/figures.h"
#include "harness/report/page.h"
#include "harness/report/table.h"
#include "harness/row_run.h"
#include "harness/selection.h"
#include "harness/trace.h"
#include "harness/wrap.h"

namespace harness {

using nlohmann::json;

AxisValues ask_values(const Workshop& workshop) {
  if (!fs::exists(workshop.train_slice)) return json::object();
  const Finished finished = run_to_end({{workshop.train_slice, "--values"}, {}, {}, {}, {}});
  const json values = json::parse(finished.output, nullptr, false);
  if (finished.exit_code != 0 || !values.is_object())
    throw PreparationError(fmt::format("{} --values failed (exit code {}): build it again with ./run_matrix",
                                       workshop.train_slice.string(), finished.exit_code));
  return values;
}

Selection select_rows(const Workshop& workshop, const Request& request, const AxisValues& values) {
  Selection selection;
  const std::string device = request.device == "auto" ? "cpu" : request.device;
  const auto scales = load_scales(workshop.project / "configs" / "scales.yaml");
  selection.scale = find_scale(scales, request.scale != "auto" ? request.scale
                                       : device == "cpu"       ? "rehearsal"
                                                               : "article");
  std::vector<Matrix> matrices;
  for (const fs::path& config : request.configs)
    matrices.push_back(load_matrix(config, selection.scale, values, device));
  selection.rows = select(matrices, request.only);
  if (request.device != "auto")
    set_fields(selection.rows, {"device=" + request.device}, selection.scale, values);
  if (request.devices > 0) selection.notes = rederive_for_devices(selection.rows, request.devices, values);
  for (Row& row : selection.rows) row.seed = request.seed;
  set_fields(selection.rows, request.set, selection.scale, values);
  return selection;
}

// Where the record of a run goes. It must be new or empty, so that two runs never mix.
static fs::path make_run_folder(const Workshop& workshop, const Request& request) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::error_code error;
  fs::path run = request.out;
  if (run.empty())
    run = workshop.project / "results" / "runs" /
          fmt::format("{:%Y%m%dT%H%M%S}-{}", fmt::localtime(std::time(nullptr)), host);
  if (request.out.empty()) {  // another run may have begun in this second
    fs::create_directories(run.parent_path(), error);
    const fs::path first = run;
    for (int i = 2; !fs::create_directory(run, error) && !error && i < 1000; ++i)
      run = first.string() + fmt::format("-{}", i);
  }
  if (fs::exists(run / "records.jsonl"))
    throw PreparationError(
        fmt::format("{} already holds a run: name another folder with --out", run.string()));
  fs::create_directories(run, error);
  std::ofstream probe(run / "records.jsonl", std::ios::app);
  if (error || !probe)
    throw PreparationError(
        fmt::format("{}: can't be written: name a writable folder with --out", run.string()));
  return fs::absolute(run);
}

// Times a few steps of each precision, once per run and only if a row needs it.
static PrecisionTimes probe_precisions(const Workshop& workshop, const std::vector<Row>& rows,
                                       const fs::path& run) {
  const auto needs = [](const Row& row) { return row.precision != "o0" && row.device == "cpu"; };
  const auto row = std::find_if(rows.begin(), rows.end(), needs);
  if (row == rows.end()) return {};
  const fs::path job = run / "probe.json";
  std::ofstream(job) << json{{"row", to_json(*row)},
                             {"index", ""},
                             {"packed", json::object()},
                             {"progress", ""},
                             {"directory", run}};
  const Finished finished =
      run_to_end({{workshop.train_slice, "--probe-precision", "--job", job}, {}, {}, {}, {}});
  const json times = json::parse(finished.output, nullptr, false);
  if (!times.is_object()) return {};
  return times.get<PrecisionTimes>();
}

// A range over seeds needs more than one.
static int64_t repeats_of(const Request& request, const Row& row) {
  constexpr int64_t kSeeds = 3;
  return request.repeats > 0 ? request.repeats : row.validation ? kSeeds : 1;
}

// Repeats of a timing are the same work; those of an accuracy differ in weights, order and augmentation.
static PlannedRow in_repeat(PlannedRow planned, int64_t repeat) {
  if (planned.row.validation) planned.row.seed += repeat;
  return planned;
}

static int exit_code_of(const std::vector<json>& records) {
  bool ran = false, failed = false;
  for (const json& record : records) {
    const std::string status = record["status"];
    ran = ran || status != "SKIPPED";
    failed = failed || (status != "OK" && status != "SKIPPED");
  }
  return interrupted() ? kInterrupted : failed ? kRowFailed : ran ? kAllGood : kNothingRan;
}

// Runs the plan over and over, so that slow changes of the machine spread over all rows alike.
static void run_plan(const RowSetting& setting, const std::vector<PlannedRow>& plan,
                     std::vector<json>& records) {
  int64_t most = 0, runs = 0;
  for (const PlannedRow& planned : plan) {
    most = std::max(most, repeats_of(setting.request, planned.row));
    runs += repeats_of(setting.request, planned.row);
  }
  LiveLine line(size_t(runs), isatty(STDERR_FILENO));
  for (int64_t repeat = 0; repeat < most; ++repeat)
    for (const PlannedRow& row : plan) {
      if (repeat >= repeats_of(setting.request, row.row)) continue;
      const PlannedRow planned = in_repeat(row, repeat);
      json record;
      if (planned.skip_reason.empty()) {
        record = run_row(setting, planned, repeat, line);
      } else {
        record = skipped_record(setting, planned, repeat);
        line.begin_row(planned.row);
        line.end_row("SKIPPED: " + planned.skip_reason);
      }
      if (record.is_null()) return;
      records.push_back(std::move(record));
      append_record(setting.run / "records.jsonl", records.back());
    }
}

int run_matrix(const Workshop& workshop, const Request& request, std::ostream& console) {
  if (!fs::exists(workshop.train_slice))
    throw PreparationError(workshop.train_slice.string() +
                           " is not built: ./run_matrix at the top of the project builds it");
  if (launcher_of(request) == "env" && is_follower() && !request.dry_run)
    return follow(request, workshop.train_slice);
  const AxisValues values = ask_values(workshop);
  const Selection selection = select_rows(workshop, request, values);
  for (const Row& row : selection.rows) {
    traced_batches(request, row);
    check_wrap(request, row, values);
  }
  if (request.dry_run) {
    const auto plan = make_plan(selection.rows, values, {}, request);
    console << describe_plan(plan);
    for (const PlannedRow& planned : plan) {
      if (!planned.skip_reason.empty()) continue;
      LaunchSetting setting;
      setting.directory = fs::path("RUN/rows") / (planned.row.id + "-repeat0");
      for (const Command& command : rank_commands(planned.row, values, workshop, request, setting).commands)
        console << planned.row.id << ": " << shell_line(command) << '\n';
    }
    return kAllGood;
  }

  note_interrupts();
  const fs::path run = make_run_folder(workshop, request);
  std::vector<PlannedRow> plan =
      make_plan(selection.rows, values, probe_precisions(workshop, selection.rows, run), request);
  for (PlannedRow& planned : plan)
    if (const auto notes = selection.notes.find(planned.row.id); notes != selection.notes.end())
      planned.notes.insert(planned.notes.end(), notes->second.begin(), notes->second.end());
  std::vector<Row> runnable;
  for (const PlannedRow& planned : plan)
    if (planned.skip_reason.empty()) runnable.push_back(planned.row);
  const DataSets data =
      runnable.empty() ? DataSets{} : prepare_data(workshop, request, selection.scale, runnable, values);
  if (interrupted()) {
    fs::remove(run / "records.jsonl");  // nothing was measured: the folder may be used again
    return kInterrupted;
  }
  std::list<NodeCopies> copies;
  for (const Data* set : {data.plain.get(), data.learnable.get()})
    if (copies.empty() || data.plain != data.learnable)
      copies.emplace_back(workshop, request, runnable, *set, values);
  check_data(plan, data);
  console << describe_plan(plan) << "records: " << (run / "records.jsonl").string() << std::endl;

  std::optional<Leading> leading;
  if (launcher_of(request) == "env") leading.emplace(run);
  const RowSetting setting{workshop,           request,          values, selection.scale, data,
                           describe_machine(), describe_build(), run};
  std::vector<json> records;
  bool lost = false;
  try {
    run_plan(setting, plan, records);
    if (write_report(run, records, console)) {
      write_figures(run, records, workshop.project, std::cerr);
      write_page(run, records, "", workshop.project, console);
    }
  } catch (const std::exception& error) {  // most likely a full disk: what finished is shown all the same
    std::cerr << "run_matrix: " << error.what() << '\n';
    lost = true;
    for (const Summary& summary : summarise(records)) console << console_table(summary);
  }
  const int code = exit_code_of(records);
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
