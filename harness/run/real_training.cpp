// Resets all fields that don't affect training, starts such real rows with the first backend that works here,
// and judges whether their loss falls.
#include "harness/run/real_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/interrupt.h"
#include "harness/experiment/policy/policy.h"
#include "harness/run/row_checks.h"
#include "harness/stats/statistics.h"

namespace harness {

using nlohmann::json;

constexpr const char* kOrder[] = {"order", "interleave", "shuffle_window"};

// Images per device of the one batch. A micro-batch has two at least, because batch norm needs more than one.
static int64_t images_of_steps(const Row& row) {
  constexpr int64_t kImages = 8;
  const int64_t parts = row.accumulation * row.pipeline_micro_batches;
  return parts * std::max<int64_t>(2, (kImages + parts - 1) / parts);
}

Row real_twin(const Row& row, RealWork work, const Scale& scale, const Scale& smallest, bool keeps_storage,
              const AxisValues& values) {
  static const json usual = to_json(Row());
  json trained = to_json(row);
  const auto reset = [&](const char* field) { trained[field] = usual[field]; };
  for (const Field& field : fields())
    if (field.acts_on != ActsOn::all || !field.trains) reset(field.name);
  const bool slice = work == RealWork::slice;
  if (!slice || !keeps_storage)
    for (const char* field : kOrder) reset(field);
  Row twin = decode<Row>(trained);
  apply(smallest, twin, values);
  twin.id = row.id + (slice ? "-slice" : "-trained");
  twin.device = "cpu";
  twin.cache = "as_is";
  twin.cpus = twin.loader_threads = smallest.c0;
  twin.warmup_batches = twin.ceiling_batches = 0;
  if (slice) {
    if (!keeps_storage) twin.storage = "raw";
    twin.timed_batches = row.timed_batches;
    twin.batch = std::max(row.batch * batch_divisor_of(row, scale) / batch_divisor_of(row, smallest),
                          all_devices(row) * row.accumulation * row.pipeline_micro_batches);
    return twin;
  }
  twin.storage = "synthetic";
  twin.ring_depth = 1;  // so that every batch is the same
  twin.timed_batches = kRealSteps;
  twin.learning_rate = kRealLearningRate;
  twin.batch = all_devices(row) * images_of_steps(row);
  return twin;
}

std::string work_of(const Row& twin) {
  json work = to_json(twin);
  for (const Field& field : fields())
    if (field.role == Role::descriptive) work.erase(field.name);
  return work.dump();
}

constexpr size_t kEndsOfSlice = 10;  // batches whose mean is a slice's first or last loss

// Without what belongs to the run's own rows. No raw copies are made of a user's images, which may be many.
static Request for_real(Request request) {
  request.set.clear();
  for (std::string* text : {&request.trace, &request.wrap}) text->clear();
  request.data.clear();
  return request;
}

RealTraining::RealTraining(const Installation& installation, const Request& request)
    : request_(for_real(request)),
      smallest_(find_scale(load_scales(installation.project / "configs" / "scales.yaml"), "smoke")),
      line_(0) {}

// Files on tmpfs are the article's usual storage; a row on them is about them if its base has another one.
static bool is_about_storage(const Row& row, const std::vector<PlannedRow>& plan) {
  if (row.storage == "synthetic") return false;
  return row.storage != "tmpfs" || std::ranges::any_of(plan, [&](const PlannedRow& other) {
           return other.row.id == row.base && other.row.storage != row.storage;
         });
}

// With the first backend that starts here, between nodes if this machine can have them.
static PlannedRow startable(Row twin, const RowSetting& setting) {
  const auto why_not = [&](const Row& row) { return why_not_started(row, setting.values, setting.request); };
  PlannedRow planned;
  const bool ranks = twin.backend != "none";
  for (const bool nodes : {true, false}) {
    if (!nodes) twin.devices = all_devices(twin), twin.nodes = 1, twin.link = "none", twin.link_rate_mbit = 0;
    for (const char* backend : {"mpi", "gloo"}) {
      if (ranks) twin.backend = backend;
      planned =
          make_plan({twin}, setting.values, setting.request, why_not, setting.machine.cores.value_or(1))[0];
      if (planned.skip_reason.empty()) return planned;
    }
  }
  return planned;
}

// What ran: `4 CPU ranks, ddp over mpi, O2 in bf16, sgd`
static std::string work_in_words(const Record& record, int64_t nodes) {
  const Row& row = record.config;
  std::string text = fmt::format("{}, {}", record.device.label, row.strategy);
  if (row.backend != "none") text += " over " + row.backend;
  if (row.sync_bn) text += " with sync_bn";
  text += fmt::format(", {}, {}", record.precision.label, row.optimizer);
  if (row.nodes > 1) text += fmt::format(", {} network namespaces", row.nodes);
  if (row.nodes < nodes)
    text += fmt::format(", without the link between {} nodes, which can't be made here", nodes);
  return text;
}

static std::string fall_in_words(const LossFall& loss) {
  return fmt::format("loss {:.2f} to {:.2f}", loss.from, loss.to);
}

static void judge_steps(Record& record) {
  const LossFall loss = loss_fall(record.loss, 1);
  if (fell(loss, kFallOnOneBatch)) return;
  record.status = "INVALID";
  record.reason = fmt::format("{} in {} steps on one batch: it must fall to {:g} of the first or less",
                              fall_in_words(loss), record.loss.size(), kFallOnOneBatch);
}

std::optional<RealTraining::Done> RealTraining::train(const RowSetting& of_run, const DataSets& data,
                                                      const std::string& row, const Row& twin,
                                                      RealWork work) {
  const std::string equal = work_of(twin);
  if (const auto found = done_.find(equal); found != done_.end()) return found->second;
  static const std::map<std::string, EmulatedDevice> no_devices;
  const RowSetting setting{of_run.installation, request_,     of_run.values, smallest_, data,
                           of_run.machine,      of_run.build, no_devices,    of_run.run};
  const PlannedRow planned = startable(twin, setting);
  Record record;
  if (planned.skip_reason.empty()) {
    line_.set_label(work == RealWork::steps ? "a few real steps first" : "its whole slice for real");
    line_.begin_row(planned.row);
    auto trained = train_row(setting, planned, 0, [this](Progress& progress) { line_.show(progress); });
    if (!trained) {
      line_.end_row("interrupted");
      return std::nullopt;
    }
    record = std::move(*trained);
    if (is_ok(record) && work == RealWork::steps) judge_steps(record);
    line_.end_row(is_ok(record)
                      ? fall_in_words(loss_fall(record.loss, work == RealWork::steps ? 1 : kEndsOfSlice))
                      : fmt::format("{}: {}", record.status, record.reason));
  } else {
    record = skipped_record(setting, planned, 0);
  }
  Done done{row, std::move(record)};
  // Steps that failed are tried once more, for the next row: another program may have taken the memory.
  if (work == RealWork::slice || is_ok(done.record) || done.record.status == "SKIPPED" ||
      !failed_.insert(equal).second)
    done_[equal] = done;
  return done;
}

std::optional<RealSteps> RealTraining::steps(const RowSetting& setting, const PlannedRow& planned) {
  const Row& row = planned.row;
  const auto done = train(setting, setting.data, row.id,
                          real_twin(row, RealWork::steps, setting.scale, smallest_, false, setting.values),
                          RealWork::steps);
  if (!done) return std::nullopt;
  const Record& record = done->record;
  if (record.status == "SKIPPED") return RealSteps{std::nullopt, record.reason};
  RecordCheck check{"trained", is_ok(record), fmt::format("{}: {}", record.status, record.reason)};
  if (check.ok)
    check.detail = fmt::format("{} in {} steps on one batch: {}", fall_in_words(loss_fall(record.loss, 1)),
                               record.loss.size(), work_in_words(record, row.nodes));
  if (done->row != row.id) check.detail += fmt::format(" (the same work as row {}, done once)", done->row);
  return RealSteps{check, ""};
}

void RealSteps::write_to(Record& record) const {
  if (check) record.checks.push_back(*check);
  if (!why_not.empty()) record.notes.push_back("no real steps on this processor: " + why_not);
}

std::optional<Record> RealTraining::slice(const RowSetting& setting, const PlannedRow& planned,
                                          const std::vector<PlannedRow>& plan) {
  const auto twin_of = [&](const Row& row) {
    return real_twin(row, RealWork::slice, setting.scale, smallest_, is_about_storage(row, plan),
                     setting.values);
  };
  if (!slice_data_) {
    std::vector<Row> twins;
    for (const PlannedRow& other : plan)
      if (other.skip_reason.empty()) twins.push_back(twin_of(other.row));
    slice_data_ = prepare_data(setting.installation, request_, smallest_, twins, setting.values);
    if (base::interrupted()) return std::nullopt;
  }
  auto done = train(setting, *slice_data_, planned.row.id, twin_of(planned.row), RealWork::slice);
  if (!done) return std::nullopt;
  Record record = std::move(done->record);
  RecordTraining& training = record.training.emplace();
  if (done->row != planned.row.id) training.done_for = done->row;
  if (is_ok(record)) {
    const LossFall loss = loss_fall(record.loss, kEndsOfSlice);
    training = {training.done_for, int64_t(record.loss.size()), loss.from, loss.to, ""};
  } else {
    training.reason = fmt::format("{}: {}", record.status, record.reason);
  }
  record.row = planned.row.id;
  // The line is about the loss: no time of a small network on a processor is kept but the total.
  for (Samples* samples : {&record.samples_ms, &record.warmup_ms, &record.spans_ms}) samples->clear();
  record.timeline.reset();
  for (double& loss : record.loss) loss = std::round(loss * 1e4) / 1e4;
  return record;
}

}  // namespace harness
