// Launches the ranks, reads their result, judges the checks, and states what was emulated.
#include "harness/run/measure_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "harness/base/descendants.h"
#include "harness/base/failure_text.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/say.h"
#include "harness/base/time_stamp.h"
#include "harness/config/emulated_nodes.h"
#include "harness/config/row_traits.h"
#include "harness/contract/machine.h"
#include "harness/emulate/remote_storage.h"
#include "harness/merge/merge.h"
#include "harness/plan/instruments.h"
#include "harness/plan/resources.h"
#include "harness/run/row_launch.h"
#include "harness/run/trace_merge.h"

namespace harness {

// Emulated hardware, for a record's `emulated`.
static std::vector<std::string> emulated_by(const Row& row, const Request& request, const AxisValues& values,
                                            int64_t batch_divisor) {
  const std::string launcher = launcher_of(request);
  std::vector<std::string> emulated;
  if (row.read_rate > 0) emulated.push_back(fmt::format("read_rate: {:g} MB/s", read_rate_here(row) * 1e-6));
  if (row.read_latency_ms > 0)
    emulated.push_back(fmt::format("read_latency: {:g} ms a record", read_latency_here_ms(row)));
  if (row.host_work_ms > 0) emulated.push_back(fmt::format("host_work: {:g} ms a batch", row.host_work_ms));
  if (!row.collectives)
    emulated.push_back("collectives: left out, each rank keeps its own gradients; no training");
  if (const auto text = describe_shared_gpus(row, values, request); !text.empty()) emulated.push_back(text);
  if (!service_of(values, row.storage).empty()) emulated.push_back(describe_store_link(row));
  if (!computes(row.device, values))
    emulated.push_back(fmt::format("device: {}{}, durations x {:g}", row.device_file,
                                   row.device_file.ends_with(".yaml") ? "" : " (configs/devices)",
                                   row.time_scale));
  if (emulates_cores(row))
    emulated.push_back(
        fmt::format("cores: each decodes {:g} images/s, / {:g} as durations are longer; loader threads "
                    "yield to the ranks",
                    row.core_images_per_s, row.time_scale));
  if (!emulates_nodes(row, launcher)) return emulated;
  emulated.push_back(fmt::format("nodes: {} network namespaces of one machine", row.nodes));
  if (!row.device_file.empty()) {
    emulated.push_back(fmt::format(
        "link: {} of {:g} Mbit/s: veth at {:g} Mbit/s and NCCL's {} with its bytes / {}", row.link,
        row.link_rate_mbit, link_rate_here_mbit(row, batch_divisor), row.wire, row.wire_divisor));
    return emulated;
  }
  emulated.push_back(row.link == "infiniband" ? "link: fast link: veth, no RDMA"
                     : row.link_rate_mbit > 0
                         ? fmt::format("link: {}: veth at {:g} Mbit/s", row.link, row.link_rate_mbit)
                         : fmt::format("link: {}: unshaped veth", row.link));
  return emulated;
}

static std::optional<Emulation> emulation_of(const RowSetting& setting, const Row& row) {
  if (computes(row.device, setting.values)) return std::nullopt;
  return Emulation{setting.device_files.at(row.device_file), batch_divisor_of(row, setting.scale),
                   row.time_scale, row.wire_divisor, row.wire};
}

// Time for starting eight ranks on two busy cores, mostly for loading LibTorch.
constexpr double kLeastStart_s = 30;

// Sets the parts of the record that are known before the row runs.
static void set_head(Record& record, const RowSetting& setting, const PlannedRow& planned, int64_t repeat) {
  const Row& row = planned.row;
  record.row = row.id;
  record.repeat = repeat;
  record.config = row;
  record.set = fmt::format("{}", fmt::join(setting.request.set, " "));
  record.scale = record_of(row, setting.scale);
  record.device.kind = row.device;
  record.machine = setting.machine;
  record.build = setting.build;
  const Data& data = setting.data.of(row);
  record.data = data.description;
  if (const auto copied = data.copied_in_s.find(row.storage); copied != data.copied_in_s.end())
    record.data.copied_in_s = copied->second;
  record.started_at = base::time_stamp_now();
  record.world_size = world_size(row, setting.values);
  record.window = {row.window, row.warmup_batches, row.warmup_batches + row.timed_batches - 1};
  record.warmup_batches = row.warmup_batches;
  record.timed_batches = row.timed_batches;
  record.notes.insert(record.notes.begin(), planned.notes.begin(), planned.notes.end());
  record.emulated = emulated_by(row, setting.request, setting.values, batch_divisor_of(row, setting.scale));
  record.emulation = emulation_of(setting, row);
  record.launcher = launcher_of(setting.request);
  if (!setting.request.wrap.empty()) record.wrap = {setting.request.wrap, setting.request.wrap_rank};
}

Record unstarted_record(const RowSetting& setting, const PlannedRow& planned, int64_t repeat,
                        const std::string& status, const std::string& reason) {
  Record record;
  set_head(record, setting, planned, repeat);
  record.status = status;
  record.reason = reason;
  return record;
}

Record skipped_record(const RowSetting& setting, const PlannedRow& planned, int64_t repeat) {
  return unstarted_record(setting, planned, repeat, "SKIPPED", planned.skip_reason);
}

Record planned_record(const RowSetting& setting, const PlannedRow& planned) {
  if (!planned.skip_reason.empty()) return skipped_record(setting, planned, 0);
  Record record = unstarted_record(setting, planned, 0, "OK", "");
  record.cache.emplace().state = planned.row.cache;
  return record;
}

static fs::path directory_of(const RowSetting& setting, const PlannedRow& planned, int64_t repeat) {
  return setting.run / "rows" / fmt::format("{}-repeat{}", planned.row.id, repeat);
}

static TimeLimits limits_of(const Request& request, const Row& row) {
  TimeLimits limits;
  // Whole trainings take as long as they take: hours on a slow device.
  limits.timeout_s = row.validation && request.timeout_s == kUsualTimeout_s ? 0 : request.timeout_s;
  if (request.silence_s > 0) {
    limits.silence_s = request.silence_s;
    limits.start_s = std::max(kLeastStart_s, request.silence_s);
  }
  return limits;
}

// An external loader that hangs is reported by its rank, which knows where it waits, before the rank itself
// counts as hung.
constexpr double kLoaderPatience = 0.8;

static fs::path prepare_directory(const RowSetting& setting, const PlannedRow& planned, int64_t repeat) {
  const fs::path directory = directory_of(setting, planned, repeat);
  fs::remove_all(directory);  // an interrupted run may have left files of this row
  fs::create_directories(directory);
  const bool emulated = emulates_nodes(planned.row, launcher_of(setting.request));
  const Data& data = setting.data.of(planned.row);
  Job job;
  job.row = planned.row;
  job.directory = directory;
  job.progress = directory / "progress";
  job.index = data.index;
  job.validation = data.validation;
  job.packed = data.packed;
  if (has_external_loader(job.row)) job.loader_command = loader_program(job.row, setting.installation);
  job.loader_start_s = kLoaderPatience * limits_of(setting.request, planned.row).start_s;
  job.loader_silence_s = kLoaderPatience * limits_of(setting.request, planned.row).silence_s;
  job.interface = emulated ? emulated::kInterface : setting.request.interface;
  job.emulated_link = emulated;
  if (job.row.device == "cuda" && launcher_of(setting.request) == "local") job.cores = job.row.cpus;
  job.trace = traced_batches(setting.request, planned.row);
  job.emulation = emulation_of(setting, planned.row);
  write_job(directory / "job.json", job);
  return directory;
}

// `O2 in bf16`
static std::string precision_label(const RecordPrecision& precision) {
  std::string label = precision.name;
  if (label != "bf16") {
    std::ranges::transform(label, label.begin(), ::toupper);
    if (!precision.sixteen_bit.empty())
      label += precision.sixteen_bit == "bfloat16" ? " in bf16" : " in fp16";
  }
  return precision.computed_in.empty() ? label : label + ", computed in " + precision.computed_in;
}

// A failed check changes the status and removes all figures.
static void judge(Record& record) {
  for (const RecordCheck& check : record.checks) {
    if (check.ok) continue;
    record.status = check.name == "loss" ? "DIVERGED" : "INVALID";
    record.reason = fmt::format("{}: {}", check.name, check.detail);
    drop_figures(record);
    return;
  }
  record.images_per_second =
      double(record.config.batch) * double(*record.timed_batches) / record.total_s.value();
}

void add_check(Record& record, const RecordCheck& check) {
  record.checks.push_back(check);
  judge(record);
}

// Reads the result of the ranks, slice.jsonl in the row's folder.
static Record measured_record(const fs::path& file, const Row& row, int64_t ranks) try {
  std::ifstream slice = base::open_regular(file);
  if (!slice)
    throw std::runtime_error(fmt::format("{}: can't be read: {}", file.string(), std::strerror(errno)));
  Record record = merge_reports(row, ranks, slice);
  if (record.checks.empty()) throw std::runtime_error("no rank reports a check");
  record.status = "OK";
  record.precision.label = precision_label(record.precision);
  return record;
} catch (const std::exception& error) {
  Record record;
  record.status = "CRASHED";
  record.reason = fmt::format("the ranks ended without error, but {} is not a complete result: {}",
                              file.filename().string(), error.what());
  return record;
}

// A missing or damaged trace does not make the row fail.
static void add_trace(Record& record, const RowSetting& setting, const fs::path& directory) {
  const auto batches = traced_batches(setting.request, record.config);
  if (!batches) return;
  const MergedTrace merged = merge_traces(directory, int(record.world_size));
  for (const std::string& warning : merged.warnings) base::say("      {}\n", warning);
  if (merged.file.empty() && !record.trace) return;
  if (!record.trace) record.trace.emplace();  // set already when ranks reported on their GPUs
  record.trace->first = batches->first;
  record.trace->last = batches->last;
  if (!merged.file.empty()) {
    base::say("      trace: {} (open it in https://ui.perfetto.dev)\n", merged.file.string());
    record.trace->file = merged.file.lexically_relative(setting.run);
  }
  if (const std::string text = describe_gpus(*record.trace); !text.empty()) base::say("      {}\n", text);
}

static std::string end_text(const Record& record, bool devices_time) {
  if (!is_ok(record)) return fmt::format("{}: {}", record.status, record.reason);
  if (!record.emulation || !devices_time)
    return fmt::format("{:.2f} s for {} batches, {:.0f} images/s", *record.total_s, *record.timed_batches,
                       *record.images_per_second);
  const Emulation& emulation = *record.emulation;
  return fmt::format("{:.2f} s for {} batches, {:.0f} images/s in the devices' time ({:.2f} s here)",
                     *record.total_s / emulation.stretch(), *record.timed_batches,
                     *record.images_per_second * emulation.time_scale, *record.total_s);
}

std::optional<Record> train_row(const RowSetting& setting, const PlannedRow& planned, int64_t repeat,
                                const std::function<void(Progress&)>& show) {
  if (const std::string strays = base::live_strays(); !strays.empty())
    return unstarted_record(setting, planned, repeat, "INVALID",
                            fmt::format("not run, because processes of an earlier row could not be ended and "
                                        "would disturb it: {}; end them, then repeat with --only-failed {}",
                                        strays, setting.run.string()));
  const fs::path directory = prepare_directory(setting, planned, repeat);
  Progress progress(directory / "progress", int(world_size(planned.row, setting.values)));
  const std::string started_at = base::time_stamp_now();
  const Disturbance disturbance;
  Outcome outcome;
  std::error_code ignored;
  try {
    outcome = launch_row(setting, planned.row, directory, progress, limits_of(setting.request, planned.row),
                         [&] { show(progress); });
  } catch (const std::exception& error) {
    outcome.status = "CRASHED";
    outcome.reason = base::failure_text(error);
    outcome.interrupted = base::interrupted();
  }
  fs::remove_all(directory / "loader", ignored);  // copies of images that an external loader's adapter made
  if (outcome.interrupted) return std::nullopt;
  Record record;
  record.status = outcome.status;
  record.reason = outcome.reason;
  if (outcome.status == "OK")
    record = measured_record(directory / "slice.jsonl", planned.row, world_size(planned.row, setting.values));
  set_head(record, setting, planned, repeat);
  if (const std::string& type = record.precision.computed_in; !type.empty())
    record.notes.push_back(fmt::format(
        "no 16-bit instructions: computed in {} and rounded, so its speed is not that of 16 bit", type));
  record.started_at = started_at;
  record.wall_s = outcome.wall_s;
  record.max_rss_bytes = outcome.max_rss_bytes;
  disturbance.write_to(record.environment);
  record.stacks = outcome.stacks;
  record.object_store = outcome.object_store;
  if (is_ok(record)) judge(record);
  return record;
}

std::optional<Record> measure_row(const RowSetting& setting, const PlannedRow& planned, int64_t repeat,
                                  LiveLine& line) {
  line.begin_row(planned.row);
  auto record = train_row(setting, planned, repeat, [&](Progress& progress) { line.show(progress); });
  line.end_row(record ? end_text(*record, line.devices_time()) : "interrupted");
  if (!record || record->rank_map.empty()) return record;
  if (record->rank_map.size() > 1) base::say("      {}\n", rank_map_text(record->rank_map));
  add_trace(*record, setting, directory_of(setting, planned, repeat));
  return record;
}

}  // namespace harness
