// Creates the run's folder, appends a record per row, and decides which attempts run again or more slowly.
#include "harness/run/execution.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "harness/base/descendants.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/machine.h"
#include "harness/base/say.h"
#include "harness/config/request.h"
#include "harness/config/row_traits.h"
#include "harness/contract/machine.h"
#include "harness/run/row_checks.h"
#include "harness/run/time_scale.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/records.h"

namespace harness {

fs::path make_run_folder(const Installation& installation, const Request& request) {
  std::error_code error;
  fs::path run = request.out;
  if (run.empty()) run = installation.results / "runs" / base::time_and_host();
  if (request.out.empty()) {  // another run may have started in the same second
    fs::create_directories(run.parent_path(), error);
    const fs::path first = run;
    for (int i = 2; !fs::create_directory(run, error) && !error && i < 1000; ++i)
      run = first.string() + fmt::format("-{}", i);
  }
  if (holds_run(run))
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

static fs::file_time_type program_of(const Installation& installation) {
  std::error_code missing;
  return fs::last_write_time(installation.train_slice, missing);
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
  if (execution->lock_->holds()) base::remove_drafts(execution->folder_);
  execution->records_ = read_records(execution->folder_, std::cerr, &execution->attempts_);
  return execution->prepare_plan() ? std::move(execution) : nullptr;
}

Execution::Execution(const Installation& installation, const Request& request, const AxisValues& values)
    : installation_(installation), request_(request), values_(values), program_(program_of(installation)) {}

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
    // Of a program that was killed as it began; the folder may be a user's, and hold anything.
    if (lock_->holds()) base::remove_drafts(folder_, /*below=*/false);
    if (!change) write_request(folder_, request_);
  }
  machine_ = describe_machine();
  repeated_ = selection.repeated;
  plan_ = make_plan(selection, values_, request_, machine_);
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
  if (scale_.slowest_time_scale > 0 && !change && !sets(request_, "time_scale")) choose_time_scales();
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
  for (const char* file : {"records.jsonl", "request.json"}) fs::remove(folder_ / file, ignored);
  if (request_.out.empty()) fs::remove(folder_, ignored);  // fails if it contains other files
}

// In a continued run, by the speed that it measured at its start, if a record keeps it.
void Execution::choose_time_scales() {
  for (const Record& record : records_)
    if (record.scale.decoded_images_per_s) scale_.decoded_images_per_s = record.scale.decoded_images_per_s;
  const bool chooses = request_.choose_time_scales || (rerun_ && records_.empty());
  if (chooses && !scale_.decoded_images_per_s)
    scale_.decoded_images_per_s = measure_decoding(installation_, plan_.front().row);
  if (scale_.decoded_images_per_s)
    harness::choose_time_scales(setting(), plan_, *scale_.decoded_images_per_s);
}

RepeatRules Execution::repeat_rules() const {
  RepeatRules rules;
  if (runs_.empty()) return rules;  // nothing was prepared to run
  rules.limit_s = repeat_limit_s(request_);
  if (!request_.trace.empty() || !request_.wrap.empty()) return rules;  // their files would be replaced
  if (!request_.keep_disturbed) rules.most_attempts = scale_.most_attempts;
  if (rerun_ == Rerun::failed || request_.repeats > 0) return rules;
  if (!is_plain(request_) && request_.repeat_within_s < 0) return rules;
  const bool all = scale_.most_rounds > 1;
  rules.most_runs = all ? scale_.most_rounds : scale_.most_runs;
  rules.seed = request_.seed;
  for (size_t row = 0; row < plan_.size(); ++row)
    if ((all || std::ranges::count(repeated_, plan_[row].row.id)) && plan_[row].skip_reason.empty())
      rules.repeated.push_back(row);
  return rules;
}

void Execution::number_attempt(Record& record) {
  const Record* counting = find_record(records_, record.row, record.repeat);
  if (!counting) return;
  int64_t& made = attempts_[{record.row, record.repeat}];
  made = std::max(made, counting->attempt ? counting->attempt->number : 1) + 1;
  record.attempt = attempt_after(*counting, record, made);
  record.notes.push_back(fmt::format("ran again, because {}", disturbance_text({counting})));
}

void Execution::keep(Record record) {
  try {
    if (rerun_) check_same_environment(folder_, records_, record);
  } catch (const PreparationError& error) {
    const fs::path refused = folder_ / "refused.jsonl";
    append_record(refused, to_json(record));
    throw PreparationError(fmt::format("{}; this row's record is in {}", error.what(), refused.string()));
  }
  append_record(records_file(), to_json(record));
  for (const Record& other : records_)
    if (other.row == record.row && other.training) record.training = other.training;
  if (!replaces_earlier(record)) return;
  const Record* earlier =
      rerun_ || record.attempt ? find_record(records_, record.row, record.repeat) : nullptr;
  if (earlier)  // the later record replaces it
    records_[size_t(earlier - records_.data())] = std::move(record);
  else
    records_.push_back(std::move(record));
}

// A row on emulated devices with which this machine did not keep up runs again, at most twice, more slowly
// where its time_scale was chosen.
std::optional<Record> Execution::measure_at_speed(PlannedRow& planned, int64_t repeat, LiveLine& line,
                                                  bool cores_are_emulated) {
  const bool chosen = scale_.decoded_images_per_s.has_value() && !keeps_time_scale(planned.row);
  std::string note;
  for (int more = 2;; --more) {
    std::optional<Record> record = measure_row(setting(), planned, repeat, line);
    if (!record) return record;
    if (const auto check = cores_are_emulated && is_ok(*record) ? check_of_cores(*record) : std::nullopt)
      add_check(*record, *check);
    if (!note.empty()) record->notes.push_back(note);
    const bool kept_up = !record->reason.starts_with("lag: ") && !record->reason.starts_with("cores: ");
    if (!chosen || kept_up || more == 0) return record;
    note = fmt::format("ran again, because at time x {:g} {}", planned.row.time_scale, record->reason);
    if (planned.row.time_scale < double(scale_.slowest_time_scale)) planned.row.time_scale *= 2;
    for (PlannedRow& kept : plan_)
      if (kept.row.id == planned.row.id) kept.row.time_scale = planned.row.time_scale;
    base::say("      {}; now at x {:g}\n", record->reason, planned.row.time_scale);
  }
}

RealTraining& Execution::real_training() {
  if (!real_training_) real_training_.emplace(installation_, request_);
  return *real_training_;
}

bool Execution::run(const PlannedRow& row, int64_t repeat, LiveLine& line, const RunOf& of) {
  PlannedRow planned = row;
  // Repeats of a timing do the same work; repeats of an accuracy differ in weights, order and augmentation.
  if (planned.row.validation) planned.row.seed += repeat;
  line.set_devices_time(!of.feed);
  std::optional<Record> record;
  std::optional<RealSteps> real;
  std::string invalid;  // why the row isn't timed
  if (program_of(installation_) != program_)
    invalid =
        "train_slice was built anew since this run began, and one table must not mix builds: start a new run";
  // Feeds and interventions compare a row that is known to train with itself.
  const bool trains = !of.feed && !of.intervention && harness::trains(planned.row);
  if (invalid.empty() && planned.skip_reason.empty() && trains && !computes(planned.row.device, values_)) {
    real = real_training().steps(setting(), planned);
    if (!real) return false;
    if (real->failed()) invalid = "trained: " + real->check->detail;
  }
  if (!invalid.empty()) {
    record = unstarted_record(setting(), planned, repeat, "INVALID", invalid);
    line.begin_row(planned.row);
    line.end_row("INVALID: " + invalid);
  } else if (planned.skip_reason.empty()) {
    record = measure_at_speed(planned, repeat, line, !of.intervention && !of.feed);
  } else {
    record = skipped_record(setting(), planned, repeat);
    line.begin_row(planned.row);
    line.end_row("SKIPPED: " + planned.skip_reason);
  }
  if (!record) return false;
  if (real) real->write_to(*record);
  record->pair = of.pair;
  record->feed = of.feed;
  record->intervention = of.intervention;
  record->device_rates = of.device_rates;
  if (of.attempt) number_attempt(*record);
  keep(std::move(*record));
  return true;
}

void Execution::train_slices(const std::function<bool()>& go_on) {
  std::vector<PlannedRow> left;
  for (const PlannedRow& planned : plan_) {
    const auto trained = [&](const Record& record) {
      return record.row == planned.row.id && record.training && record.training->reason.empty();
    };
    if (planned.skip_reason.empty() && !computes(planned.row.device, values_) && trains(planned.row) &&
        std::ranges::none_of(records_, trained))
      left.push_back(planned);
  }
  for (const PlannedRow& planned : left) {
    if (base::interrupted() || !go_on()) return;
    const auto record = real_training().slice(setting(), planned, left);
    if (!record) return;
    append_record(folder_ / kTrainingFile, to_json(*record));
    add_training(records_, *record);
  }
}

}  // namespace harness
