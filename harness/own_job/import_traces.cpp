// Makes a record of the traces of a job's ranks.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/exit_code.h"
#include "harness/base/say.h"
#include "harness/config/settings.h"
#include "harness/contract/machine.h"
#include "harness/own_job/job_commands.h"
#include "harness/own_job/profiler_trace.h"
#include "harness/report/results.h"
#include "harness/run/execution.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

bool is_trace(const fs::path& file) {
  return file.extension() == ".json" || file.string().ends_with(".json.gz");
}

std::vector<fs::path> files_of(const TraceImport& asked) {
  std::vector<fs::path> files;
  for (const fs::path& path : asked.files) {
    if (!fs::exists(path)) throw PreparationError(path.string() + ": no such file or folder");
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(path))
      if (is_trace(entry.path())) files.push_back(entry.path());
    if (files.empty())
      throw PreparationError(path.string() + ": holds no trace (.json, .json.gz) of torch.profiler");
  }
  std::ranges::sort(files);
  return files;
}

struct RankSteps {
  fs::path file;
  ProfilerTrace trace;
  TracedSteps steps;
};

RankSteps read(const fs::path& file, int64_t batch) {
  RankSteps rank{file, read_profiler_trace(file), {}};
  if (batch == 0 && !rank.trace.batch)
    throw PreparationError(fmt::format(
        "{}: tells no batch size: name it with --batch, or record the trace with record_shapes=True",
        file.string()));
  const int64_t items = batch > 0 ? batch : *rank.trace.batch;
  if (const FigureLimits limits = limits_of(*find_field("batch")); !limits.hold(double(items)))
    throw PreparationError(fmt::format("{}: expected a batch {}, found {}",
                                       batch > 0 ? "--batch" : file.string(), described(limits), items));
  try {
    rank.steps = traced_steps(rank.trace, items);
  } catch (const std::runtime_error& error) {
    throw PreparationError(fmt::format("{}: {}", file.string(), error.what()));
  }
  rank.trace.operators.clear();
  return rank;
}

std::vector<RankSteps> read_all(const TraceImport& asked) {
  std::vector<RankSteps> ranks;
  for (const fs::path& file : files_of(asked)) ranks.push_back(read(file, asked.batch));
  std::ranges::sort(ranks,
                    [](const RankSteps& a, const RankSteps& b) { return a.trace.rank < b.trace.rank; });
  for (size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].trace.rank == ranks[i - 1].trace.rank)
      throw PreparationError(fmt::format("{} and {} are both of rank {}: import one run's traces at a time",
                                         ranks[i - 1].file.string(), ranks[i].file.string(),
                                         ranks[i].trace.rank));
    if (ranks[i].trace.world != ranks[0].trace.world ||
        ranks[i].steps.segment.steps.size() != ranks[0].steps.segment.steps.size())
      throw PreparationError(fmt::format(
          "{} has {} steps of a job of {} ranks, {} has {} of {}: import one run's traces at a time",
          ranks[0].file.string(), ranks[0].steps.segment.steps.size(), ranks[0].trace.world,
          ranks[i].file.string(), ranks[i].steps.segment.steps.size(), ranks[i].trace.world));
  }
  return ranks;
}

ProbeReport report_of(const std::vector<RankSteps>& ranks) {
  ProbeReport report;
  for (const RankSteps& read : ranks) {
    ProbeRank& rank = report.ranks.emplace_back();
    rank.rank = read.trace.rank;
    rank.world = read.trace.world;
    rank.end = "done";
    rank.iterations = int64_t(read.steps.segment.steps.size());
    rank.device = read.trace.device;
    rank.segments.push_back(read.steps.segment);
  }
  return report;
}

// What the GPUs did, as a row on GPUs tells it.
void add_device(Record& record, const std::vector<RankSteps>& ranks) {
  double busy = 0;
  for (const RankSteps& rank : ranks) {
    for (const auto& [phase, ms] : rank.steps.device_ms) record.device_ms[phase].push_back(ms);
    busy += rank.steps.busy_share / double(ranks.size());
  }
  // A phase that some ranks lack has no times by rank.
  std::erase_if(record.device_ms, [&](const auto& phase) { return phase.second.size() != ranks.size(); });
  const RankSteps& first = ranks.front();
  if (first.steps.h2d_gb_per_s > 0) record.device.settings["h2d_gb_per_s"] = first.steps.h2d_gb_per_s;
  if (first.trace.device_memory_bytes > 0)
    record.device.settings["memory_bytes"] = first.trace.device_memory_bytes;
  record.notes.push_back(fmt::format("GPUs busy in {:.1f} % of the steps' time", 100 * busy));
}

}  // namespace

int import_traces(const Installation& installation, const Request& request, const TraceImport& asked,
                  std::ostream& console) {
  std::vector<RankSteps> ranks;
  try {
    ranks = read_all(asked);
  } catch (const PreparationError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw PreparationError(error.what());
  }
  const RankSteps& first = ranks.front();
  RecordMachine machine;
  machine.cpu = "a machine that the trace doesn't name";
  JobFrame frame{{"import"}, machine, describe_build()};
  for (const RankSteps& rank : ranks) frame.command.push_back(rank.file.string());
  JobEnd end;
  for (const ProbeStep& step : first.steps.segment.steps) end.wall_s += step.wall_ms * 1e-3;
  Record record = job_record(frame, report_of(ranks), end, {{0}, "unchanged", true});
  record.config.id = record.row;
  record.config.model = asked.model;
  record.config.precision = record.precision.name = record.precision.label = asked.precision;
  record.notes.push_back("imported from a trace by torch.profiler, whose cost the times include");
  if (int64_t(ranks.size()) < first.trace.world)
    record.notes.push_back(
        fmt::format("traces of {} of {} ranks: images/s are theirs", ranks.size(), first.trace.world));
  if (!first.trace.device.empty()) add_device(record, ranks);
  for (const std::string& note : record.notes) base::say("      {}\n", note);
  const fs::path folder = make_run_folder(installation, request);
  append_record(folder / "records.jsonl", to_json(record));
  write_results(installation.project, folder, {record}, console);
  return base::kAllGood;
}

}  // namespace harness
