#include "harness/run/row_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "harness/base/failure_text.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/base/say.h"
#include "harness/plan/gpus.h"
#include "harness/base/interrupt.h"
#include "harness/base/machine.h"
#include "harness/base/moment.h"
#include "harness/base/offspring.h"
#include "harness/run/rank_map.h"
#include "harness/emulate/remote_storage.h"
#include "harness/run/row_launch.h"
#include "harness/run/trace.h"
#include "harness/emulate/two_nodes.h"

namespace harness {

using nlohmann::json;

// Settings that stand in for hardware.
static json emulated_by(const Row& row, const Request& request, const AxisValues& values) {
  const std::string launcher = launcher_of(request);
  json emulated = json::array();
  if (row.read_rate > 0) emulated.push_back(fmt::format("read_rate: {:g} MB/s", row.read_rate * 1e-6));
  if (row.read_latency_ms > 0)
    emulated.push_back(fmt::format("read_latency: {:g} ms a record", row.read_latency_ms));
  if (row.host_work_ms > 0) emulated.push_back(fmt::format("host_work: {:g} ms a batch", row.host_work_ms));
  if (const auto text = describe_shared_gpus(row, values, request); !text.empty()) emulated.push_back(text);
  if (!service_of(values, row.storage).empty()) emulated.push_back(describe_store_link(row));
  if (!emulates_nodes(row, launcher)) return emulated;
  emulated.push_back(fmt::format("nodes: {} network namespaces of one machine", row.nodes));
  emulated.push_back(row.link == "infiniband"
                         ? "link: fast link: veth, no RDMA"
                         : fmt::format("link: {}: veth at {:g} Mbit/s", row.link, row.link_rate_mbit));
  return emulated;
}

// What starting eight ranks takes on two busy cores, most of it for loading LibTorch.
constexpr double kLeastStart_s = 30;

static json record_head(const RowSetting& setting, const PlannedRow& planned, int64_t repeat) {
  const Row& row = planned.row;
  json head = {{"schema", 1},
               {"row", row.id},
               {"repeat", repeat},
               {"status", "OK"},
               {"reason", ""},
               {"config", to_json(row)},
               {"set", fmt::format("{}", fmt::join(setting.request.set, " "))},
               {"scale", to_json(setting.scale)},
               {"device", {{"kind", row.device}}},
               {"machine", setting.machine},
               {"build", setting.build},
               {"data", setting.data.of(row).description},
               {"started_at", moment_now()},
               {"world_size", world_size(row, setting.values)},
               {"window",
                {{"article", row.window},
                 {"first", row.warmup_batches},
                 {"last", row.warmup_batches + row.timed_batches - 1}}},
               {"warmup_batches", row.warmup_batches},
               {"timed_batches", row.timed_batches},
               {"notes", planned.notes},
               {"emulated", emulated_by(row, setting.request, setting.values)},
               {"launcher", launcher_of(setting.request)}};
  if (!setting.request.wrap.empty())
    head["wrap"] = {{"command", setting.request.wrap}, {"rank", setting.request.wrap_rank}};
  return head;
}

json skipped_record(const RowSetting& setting, const PlannedRow& planned, int64_t repeat) {
  json record = record_head(setting, planned, repeat);
  record["status"] = "SKIPPED";
  record["reason"] = planned.skip_reason;
  return record;
}

static fs::path prepare_directory(const RowSetting& setting, const PlannedRow& planned, int64_t repeat) {
  const fs::path directory = setting.run / "rows" / fmt::format("{}-repeat{}", planned.row.id, repeat);
  fs::remove_all(directory);  // a run that is continued may have left half of this row
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
  job.interface = emulated ? TwoNodes::kInterface : setting.request.interface;
  job.emulated_link = emulated;
  job.trace = traced_batches(setting.request, planned.row);
  write_job(directory / "job.json", job);
  return directory;
}

// What the ranks measured joins the record; a failed check takes the figures away again. The raw file stays
// in the row's folder.
static void add_measurement(json& record, json slice) {
  for (const char* key : {"rank_map", "cache", "ring", "bad_images", "warnings", "checks", "clock",
                          "strategy", "versions", "communication", "link"})
    if (slice.contains(key)) record[key] = std::move(slice[key]);
  record["device"].update(slice.value("device", json::object()));
  record["precision"] = slice.value("precision", json::object());
  const std::string sixteen = record["precision"].value("sixteen_bit", "");
  std::string label = record["config"]["precision"];
  if (label != "bf16") std::transform(label.begin(), label.end(), label.begin(), ::toupper);
  record["precision"]["label"] =
      sixteen.empty() || label == "bf16"
          ? label
          : fmt::format("{} in {}", label, sixteen == "bfloat16" ? "bf16" : "fp16");

  for (const json& check : record.at("checks")) {
    if (check["ok"].get<bool>()) continue;
    record["status"] = check["name"] == "loss" ? "DIVERGED" : "INVALID";
    record["reason"] =
        fmt::format("{}: {}", check["name"].get<std::string>(), check["detail"].get<std::string>());
    return;
  }
  for (const char* key :
       {"total_s", "samples_ms", "warmup_ms", "spans_ms", "device_ms", "loss", "top1", "top5"})
    record[key] = std::move(slice.at(key));
  for (const char* key : {"ceilings", "timeline", "gpu", "trace"})
    if (slice.contains(key)) record[key] = std::move(slice[key]);
  if (slice.contains("accuracy")) record["accuracy"] = std::move(slice["accuracy"]);
  record["images_per_second"] = record["config"]["batch"].get<double>() *
                                record["timed_batches"].get<double>() / record["total_s"].get<double>();
}

static void add_slice(json& record, const fs::path& file) try {
  json measured = record;  // all of it or nothing
  add_measurement(measured, base::require_json(base::read_file(file)));
  record = std::move(measured);
} catch (const std::exception& error) {
  record["status"] = "CRASHED";
  record["reason"] = fmt::format("the ranks ended well, but {} is no complete result: {}",
                                 file.filename().string(), error.what());
}

// A trace is an extra: what is missing of it costs the row nothing.
static void add_trace(json& record, const RowSetting& setting, const Row& row, const fs::path& directory) {
  const auto batches = traced_batches(setting.request, row);
  if (!batches) return;
  const MergedTrace merged = merge_traces(directory, world_size(row, setting.values));
  for (const std::string& warning : merged.warnings) base::say("      {}\n", warning);
  if (merged.file.empty() && !record.contains("trace")) return;
  json& trace = record["trace"];  // of GPUs the ranks have told something
  trace["first"] = batches->first;
  trace["last"] = batches->last;
  if (!merged.file.empty()) {
    base::say("      trace: {} (open it in https://ui.perfetto.dev)\n", merged.file.string());
    trace["file"] = merged.file.lexically_relative(setting.run);
  }
  if (const std::string text = describe_gpus(trace); !text.empty()) base::say("      {}\n", text);
}

json run_row(const RowSetting& setting, const PlannedRow& planned, int64_t repeat, LiveLine& line) {
  json record = record_head(setting, planned, repeat);
  if (const std::string strays = live_strays(); !strays.empty()) {
    record["status"] = "INVALID";
    record["reason"] = fmt::format(
        "not run, because processes of an earlier row could not be ended and would have disturbed it: {}; "
        "end them, "
        "then repeat with --only-failed {}",
        strays, setting.run.string());
    line.begin_row(planned.row);
    line.end_row("INVALID: " + record["reason"].get<std::string>());
    return record;
  }
  const fs::path directory = prepare_directory(setting, planned, repeat);
  Progress progress(directory / "progress", int(world_size(planned.row, setting.values)));
  Limits limits;
  limits.timeout_s = setting.request.timeout_s;
  if (setting.request.silence_s > 0) {
    limits.silence_s = setting.request.silence_s;
    limits.start_s = std::max(kLeastStart_s, setting.request.silence_s);
  }

  line.begin_row(planned.row);
  const Disturbance disturbance;
  Outcome outcome;
  try {
    outcome = launch_row(setting, planned.row, directory, progress, limits, [&] { line.show(progress); });
  } catch (const std::exception& error) {
    outcome.status = "CRASHED";
    outcome.reason = base::failure_text(error);
    outcome.interrupted = interrupted();
  }
  if (outcome.interrupted) {
    line.end_row("interrupted");
    return nullptr;
  }
  record["status"] = outcome.status;
  record["reason"] = outcome.reason;
  record["wall_s"] = outcome.wall_s;
  record["max_rss_bytes"] = outcome.max_rss_bytes;
  record["environment"] = disturbance.since();
  if (!outcome.stacks.empty()) record["stacks"] = outcome.stacks;
  if (!outcome.object_store.is_null()) record["object_store"] = outcome.object_store;
  if (outcome.status == "OK") add_slice(record, directory / "slice.json");
  line.end_row(
      record["status"] == "OK"
          ? fmt::format("{:.2f} s for {} batches, {:.0f} images/s", record["total_s"].get<double>(),
                        planned.row.timed_batches, record["images_per_second"].get<double>())
          : fmt::format("{}: {}", record["status"].get<std::string>(), record["reason"].get<std::string>()));
  if (record.contains("rank_map") && record["rank_map"].size() > 1)
    base::say("      {}\n", rank_map_text(record["rank_map"]));
  if (outcome.status == "OK") add_trace(record, setting, planned.row, directory);
  return record;
}

}  // namespace harness
