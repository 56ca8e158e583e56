#include "harness/run/execution.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "harness/base/interrupt.h"
#include "harness/base/json_text.h"
#include "harness/base/machine.h"
#include "harness/base/offspring.h"
#include "harness/config/device_file.h"
#include "harness/config/request_file.h"
#include "harness/config/row_traits.h"
#include "harness/config/selection.h"
#include "harness/contract/machine.h"
#include "harness/plan/instruments.h"
#include "harness/plan/probe.h"
#include "harness/run/row_checks.h"
#include "harness/stats/records.h"

namespace harness {

using nlohmann::json;

AxisValues ask_values(const Installation& installation) {
  if (!fs::exists(installation.train_slice)) return {};
  const base::Finished finished = base::run_to_end({{installation.train_slice, "--values"}, {}, {}, {}, {}});
  std::string why = fmt::format("exit code {}", finished.exit_code);
  if (finished.exit_code == 0) try {
      return decode<AxisValues>(base::require_json(finished.output));
    } catch (const std::runtime_error& error) {
      why = error.what();
    }
  throw PreparationError(fmt::format("{} --values failed ({}): build it again with ./run_matrix",
                                     installation.train_slice.string(), why));
}

using Notes = std::map<std::string, std::vector<std::string>>;

static void add_notes(Notes& notes, const Notes& more) {
  for (const auto& [row, texts] : more) notes[row].insert(notes[row].end(), texts.begin(), texts.end());
}

// Tables and plots of one run compare its rows, so all of them are measured or all are emulated.
static void refuse_mixed_devices(const std::vector<Row>& rows, const AxisValues& values) {
  for (const Row& row : rows)
    if (computes(row.device, values) != computes(rows[0].device, values))
      throw ConfigError({fmt::format("rows {} and {}", in_quotes(rows[0].id), in_quotes(row.id))},
                        "emulated devices and real ones can't be compared in one run",
                        "rows on devices of one kind", fmt::format("{} and {}", rows[0].device, row.device),
                        "run them one after the other with --device");
}

// Reads the device file of each row on an emulated device, `usual` where the row names none.
static void read_device_files(Selection& selection, const fs::path& project, const std::string& usual,
                              const AxisValues& values) {
  for (Row& row : selection.rows) {
    if (computes(row.device, values)) continue;
    if (row.device_file.empty()) row.device_file = usual;
    const fs::path file = device_file(project, row.device_file);
    if (row.device_file.ends_with(".yaml")) row.device_file = fs::absolute(file).lexically_normal();
    auto& device = selection.device_files[row.device_file];
    if (device.name.empty()) device = read_device_file(file);
    require_times(device, file, row);
  }
}

Selection select_rows(const Installation& installation, const Request& request, const AxisValues& values) {
  Selection selection;
  // --device emulated:NAME
  const size_t colon = request.device.find(':');
  const std::string device = request.device != "auto"              ? request.device.substr(0, colon)
                             : available(values, "device", "cuda") ? "cuda"
                                                                   : "cpu";
  const bool emulated = !computes(device, values);
  if (colon != std::string::npos && !emulated)
    throw ConfigError({"--device " + request.device}, "only device emulated has device files",
                      "--device emulated:NAME", in_quotes(request.device));
  const auto scales = load_scales(installation.project / "configs" / "scales.yaml");
  selection.scale = find_scale(scales, request.scale != "auto" ? request.scale
                                       : emulated              ? "emulated"
                                       : device == "cpu"       ? "rehearsal"
                                                               : "article");
  const auto rows_at = [&](const Scale& scale) {
    std::vector<Matrix> matrices;
    for (const fs::path& config : request.configs)
      matrices.push_back(load_matrix(config, scale, values, device));
    return select(matrices, request.only);
  };
  if (request.scale == "auto" && device == "cuda") fit_to_memory(installation, selection.scale, rows_at);
  selection.rows = rows_at(selection.scale);
  if (request.device != "auto") set_fields(selection.rows, {"device=" + device}, selection.scale, values);
  add_notes(selection.notes, choose_backends(selection.rows, request.oversubscribe, values));
  if (request.devices > 0)
    add_notes(selection.notes, rederive_for_devices(selection.rows, request.devices, values));
  for (Row& row : selection.rows) row.seed = request.seed;
  set_fields(selection.rows, request.set, selection.scale, values);
  refuse_mixed_devices(selection.rows, values);
  read_device_files(selection, installation.project,
                    colon == std::string::npos ? kDefaultDeviceFile : request.device.substr(colon + 1),
                    values);
  return selection;
}

std::vector<PlannedRow> make_plan(const Selection& selection, const AxisValues& values,
                                  const PrecisionTimes& times, const Request& request,
                                  const RecordMachine& machine) {
  const auto why_not = [&](const Row& row) { return why_not_started(row, values, request); };
  std::vector<PlannedRow> plan =
      make_plan(selection.rows, values, times, request, why_not, machine.cores.value_or(1));
  for (PlannedRow& planned : plan)
    if (const auto notes = selection.notes.find(planned.row.id); notes != selection.notes.end())
      planned.notes.insert(planned.notes.end(), notes->second.begin(), notes->second.end());
  return plan;
}

Selection checked_selection(const Installation& installation, const Request& request,
                            const AxisValues& values) {
  if (!fs::exists(installation.train_slice))
    throw PreparationError(installation.train_slice.string() +
                           " is not built: ./run_matrix at the top of the project builds it");
  Selection selection = select_rows(installation, request, values);
  for (const Row& row : selection.rows) {
    traced_batches(request, row);
    if (!computes(row.device, values) && !request.trace.empty())
      throw PreparationError(
          fmt::format("row {}: --trace {}: device {} runs no kernels to trace; leave out --trace, or "
                      "use --device cpu",
                      row.id, request.trace, row.device));
    check_wrap(request, row, values);
  }
  return selection;
}

// Creates the folder of a run. It must not contain records of another run.
static fs::path make_run_folder(const Installation& installation, const Request& request) {
  std::error_code error;
  fs::path run = request.out;
  if (run.empty()) run = installation.results / "runs" / base::time_and_host();
  if (request.out.empty()) {  // another run may have started in the same second
    fs::create_directories(run.parent_path(), error);
    const fs::path first = run;
    for (int i = 2; !fs::create_directory(run, error) && !error && i < 1000; ++i)
      run = first.string() + fmt::format("-{}", i);
  }
  if (fs::exists(run / "records.jsonl"))
    throw PreparationError(
        fmt::format("{} already holds a run: name another folder with --out", run.string()));
  fs::create_directories(run, error);
  errno = 0;
  const std::ofstream probe(run / "records.jsonl", std::ios::app);
  if (error || !probe)
    throw PreparationError(fmt::format("{}: can't be written: {}; name a writable folder with --out",
                                       run.string(), error ? error.message() : std::strerror(errno)));
  return fs::absolute(run);
}

// Times a few steps of each precision, only if a row on the CPU uses another one than o0.
static PrecisionTimes probe_precisions(const Installation& installation, const std::vector<Row>& rows,
                                       const fs::path& run) {
  const auto needs = [](const Row& row) { return row.precision != "o0" && row.device == "cpu"; };
  const auto row = std::find_if(rows.begin(), rows.end(), needs);
  if (row == rows.end()) return {};
  return decode<PrecisionTimes>(probe(installation, *row, "precision", run));
}

std::unique_ptr<Execution> Execution::prepare(const Installation& installation, const Request& request,
                                              const AxisValues& values,
                                              const std::function<void(Selection&)>& change) {
  std::unique_ptr<Execution> execution(new Execution(installation, request, values));
  try {
    return execution->prepare_plan(change) ? std::move(execution) : nullptr;
  } catch (...) {
    execution->discard();  // so that the same command works after the input is corrected
    throw;
  }
}

std::unique_ptr<Execution> Execution::continue_in(const Installation& installation, const Request& request,
                                                  const AxisValues& values, Rerun rerun) {
  if (launcher_of(request) == "env")
    throw PreparationError(
        "launcher env can't continue a run, because its ranks need a new folder; start a new run");
  std::unique_ptr<Execution> execution(new Execution(installation, request, values));
  execution->folder_ = fs::absolute(request.out);
  execution->rerun_ = rerun;
  execution->lock_.emplace(lock_run(execution->folder_));
  execution->records_ = read_records(execution->folder_, std::cerr);
  return execution->prepare_plan() ? std::move(execution) : nullptr;
}

Execution::Execution(const Installation& installation, const Request& request, const AxisValues& values)
    : installation_(installation), request_(request), values_(values) {}

Execution::~Execution() { base::wait_for_strays(std::chrono::minutes(10)); }

bool Execution::prepare_plan(const std::function<void(Selection&)>& change) {
  Selection selection = checked_selection(installation_, request_, values_);
  if (change) change(selection);
  scale_ = selection.scale;
  device_files_ = selection.device_files;
  base::note_interrupts();
  if (!rerun_) {
    folder_ = make_run_folder(installation_, request_);
    lock_.emplace(lock_run(folder_));
    if (!change) write_request(folder_, request_);
  }
  machine_ = describe_machine();
  plan_ = make_plan(selection, values_, probe_precisions(installation_, selection.rows, folder_), request_,
                    machine_);
  runs_ = all_runs(plan_, request_);
  if (rerun_) runs_ = runs_left(plan_, runs_, records_, *rerun_);
  if (runs_.empty()) return true;
  std::vector<Row> runnable;
  for (const PlannedRow& planned : plan_)
    if (planned.skip_reason.empty()) runnable.push_back(planned.row);
  if (!runnable.empty()) data_ = prepare_data(installation_, request_, scale_, runnable, values_);
  if (base::interrupted()) {
    discard();
    return false;
  }
  int64_t nodes = 1;
  for (const Row& row : runnable) nodes = std::max(nodes, row.nodes);
  const OnEveryNode on_all_nodes = [this, nodes](const Words& program) {
    return on_every_node(request_, nodes, program);
  };
  for (const Data* set : {data_.plain.get(), data_.learnable.get()})
    if (copies_.empty() || data_.plain != data_.learnable)
      copies_.emplace_back(installation_, *set, values_, on_all_nodes);
  check_data(plan_, data_);
  if (launcher_of(request_) == "env") leading_.emplace(folder_);
  build_ = describe_build();
  if (rerun_)
    check_same_experiment(folder_, plan_, runs_, records_, [this](const Row& row) {
      return skipped_record(setting(), {row, "", {}}, 0);
    });
  return true;
}

RowSetting Execution::setting() const {
  return {installation_, request_, values_, scale_, data_, machine_, build_, device_files_, folder_};
}

void Execution::discard() {
  if (rerun_ || !lock_) return;  // without the lock the files belong to another run
  std::error_code ignored;
  for (const char* file : {"records.jsonl", "request.json", "probe.json"})
    fs::remove(folder_ / file, ignored);
  if (request_.out.empty()) fs::remove(folder_, ignored);  // fails if it contains other files
}

void Execution::keep(Record record) {
  if (rerun_) check_same_environment(folder_, records_, record);
  append_record(records_file(), to_json(record));
  const auto earlier = std::find_if(records_.begin(), records_.end(), [&](const Record& other) {
    return rerun_ && other.row == record.row && other.repeat == record.repeat;
  });
  if (earlier == records_.end())
    records_.push_back(std::move(record));
  else  // the later record replaces the earlier one
    *earlier = std::move(record);
}

bool Execution::run(const PlannedRow& row, int64_t repeat, LiveLine& line, const RunOf& of) {
  PlannedRow planned = row;
  // Repeats of a timing do the same work; repeats of an accuracy differ in weights, order and augmentation.
  if (planned.row.validation) planned.row.seed += repeat;
  std::optional<Record> record;
  if (planned.skip_reason.empty()) {
    record = measure_row(setting(), planned, repeat, line);
  } else {
    record = skipped_record(setting(), planned, repeat);
    line.begin_row(planned.row);
    line.end_row("SKIPPED: " + planned.skip_reason);
  }
  if (!record) return false;
  record->pair = of.pair;
  record->feed = of.feed;
  record->intervention = of.intervention;
  keep(std::move(*record));
  return true;
}

}  // namespace harness
