// Joins the segments of all ranks and fills the members of a record that a job has.
#include "harness/own_job/job_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "harness/base/child_process.h"
#include "harness/base/plain_text.h"
#include "harness/base/time_stamp.h"
#include "harness/experiment/policy/policy.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

Row row_of(const std::vector<std::string>& command) {
  Row row;
  row.id = kJobRow;
  row.title = fmt::format("{}", fmt::join(command, " "));
  row.device = row.storage = row.strategy = row.precision = row.model = "own";
  row.cache = "as_is";
  row.engine = "pytorch";
  row.timed_batches = row.batch = row.cpus = row.loader_threads = 0;  // until a start tells them
  return row;
}

// Of each segment that every rank finished, the steps in which a validation of any rank lay: the others
// waited there.
std::map<int64_t, std::set<size_t>> left_out_of(const ProbeReport& report, const SegmentsOf& of) {
  std::map<int64_t, std::set<size_t>> found;
  for (const int64_t index : of.indices) {
    std::set<size_t> left_out;
    const bool finished = std::ranges::all_of(report.ranks, [&](const ProbeRank& rank) {
      const auto segment = std::ranges::find(rank.segments, index, &ProbeSegment::index);
      if (segment == rank.segments.end() || segment->unfinished) return false;
      left_out.insert(segment->left_out.begin(), segment->left_out.end());
      return segment->steps.size() > left_out.size();
    });
    if (finished) found.emplace(index, left_out);
  }
  return found;
}

struct TimedSteps {
  double wall_s = 0;
  int64_t items = 0, steps = 0;
};

TimedSteps add_rank(Record& record, const ProbeRank& rank,
                    const std::map<int64_t, std::set<size_t>>& segments) {
  std::map<std::string, std::vector<double>> phases;
  TimedSteps timed;
  double outside_backward_ms = 0;
  for (const ProbeSegment& segment : rank.segments) {
    const auto left_out = segments.find(segment.index);
    if (left_out == segments.end()) continue;
    timed.items += segment.items;
    for (size_t i = 0; i < segment.steps.size(); ++i) {
      const ProbeStep& step = segment.steps[i];
      if (left_out->second.contains(i)) {
        timed.items -= step.items;
        continue;
      }
      for (const auto& [name, time] : kProbePhases) phases[name].push_back(step.*time);
      timed.wall_s += step.wall_ms * 1e-3;
      outside_backward_ms += step.wall_ms - step.backward_ms - step.sync_ms;
      if (rank.rank == 0 && step.loss) record.loss.push_back(*step.loss);
      ++timed.steps;
    }
    if (rank.rank != 0) continue;
    record.job->updates += segment.updates;
    record.job->settled += segment.settled;
    record.job->excluded += segment.excluded + int64_t(left_out->second.size() - segment.left_out.size());
  }
  for (auto& [name, times] : phases) record.samples_ms[name].push_back(std::move(times));
  record.job->rank_step_ms.push_back(outside_backward_ms / double(timed.steps));
  return timed;
}

void set_job(Record& record, const ProbeReport& report) {
  const ProbeRank& first = report.ranks.front();
  record.device.name = first.device == "cpu" ? record.machine.cpu : first.device;
  record.device.label = "own job";
  record.world_size = std::max<int64_t>(1, first.world);
  record.versions = {{"PyTorch", first.torch}, {"Python", first.python}};
  record.job->loaders = first.loaders;
  record.job->probe_us = first.self_us;
  record.job->worker_ms = report.worker_ms;
  if (const JobLoader* loader = training_loader(report)) record.config.loader_threads = loader->workers;
  record.config.cpus = first.cores;
  record.config.intra_op_threads = first.threads;
  record.config.devices = record.world_size;
  for (const ProbeRank& rank : report.ranks) {
    for (const std::string& note : rank.notes) record.notes.push_back(note);
    if (!rank.error.empty())
      record.notes.push_back(
          fmt::format("the probe of rank {} failed and switched itself off: {}", rank.rank, rank.error));
  }
}

}  // namespace

Record job_record(const JobFrame& frame, const std::string& status, const std::string& reason) {
  Record record;
  record.row = kJobRow;
  record.status = status;
  record.reason = reason;
  record.config = row_of(frame.command);
  record.scale = {"own", "the user's own job, as it is"};
  record.device.kind = "own";
  record.precision.name = record.precision.label = "own";
  record.machine = frame.machine;
  record.build = frame.build;
  record.started_at = base::time_stamp_now();
  record.launcher = "own";
  record.job.emplace().command = frame.command;
  return record;
}

std::string why_no_steps(const ProbeReport& report, const JobEnd& end, double limit_s) {
  std::string why;
  if (!end.in_time)
    why = fmt::format("it was ended after {:.0f} s", limit_s);
  else
    why = "the command " + base::ended_in_words(end.exit_code);
  const auto steps = [](const ProbeRank& rank) { return rank.iterations > 0 || !rank.segments.empty(); };
  if (!report.why_not.empty())
    why += "; " + report.why_not;
  else if (report.ranks.empty())
    why +=
        end.in_time
            ? "; no Python process of it imported torch and trained, so that it has no steps that can be timed"
            : "; until then no Python process of it had trained a step";
  else if (std::ranges::none_of(report.ranks, steps))
    why +=
        "; it made no training step (a backward pass after a batch of a torch DataLoader, or a step of an "
        "optimizer)";
  else
    why += fmt::format(
        "; it had made {}{}", base::counted(report.ranks.front().iterations, "step"),
        end.in_time && end.exit_code == 0
            ? ", fewer than are to be measured: name smaller --steps and --warmup, or let it train longer"
            : "");
  for (const ProbeRank& rank : report.ranks)
    if (!rank.error.empty()) why += "; the probe failed: " + rank.error;
  if (end.overlay_bytes > 0 && end.last_lines.find(std::strerror(ENOSPC)) != std::string::npos)
    why += fmt::format(
        "; what it writes is kept in memory, of which it may have {:.1f} GiB here: with --may-write it goes "
        "to your disk",
        double(end.overlay_bytes) / double(1 << 30));
  if (!end.advice.empty()) why += "; " + end.advice;
  if (!end.last_lines.empty()) why += "; its last lines:\n" + end.last_lines;
  return why;
}

Record job_record(const JobFrame& frame, const ProbeReport& report, const JobEnd& end, const SegmentsOf& of) {
  Record record = job_record(frame, "OK", "");
  record.wall_s = end.wall_s;
  record.environment.steal_share = record.environment.window_steal_share = end.stolen_share;
  record.environment.window_outside_share = end.outside_share;
  int64_t items = 0;
  std::vector<double> seconds;
  const auto segments = left_out_of(report, of);
  if (segments.empty()) {
    const auto can_not = [&](const ProbeRank& rank) { return rank.impossible.contains(of.change); };
    const auto rank = std::ranges::find_if(report.ranks, can_not);
    record.status = rank == report.ranks.end() ? "CRASHED" : "SKIPPED";
    record.reason =
        rank == report.ranks.end() ? why_no_steps(report, end, end.wall_s) : rank->impossible.at(of.change);
    drop_figures(record);
    return record;
  }
  for (const ProbeRank& rank : report.ranks) {
    const TimedSteps timed = add_rank(record, rank, segments);
    seconds.push_back(timed.wall_s);
    items += timed.items;
    if (record.timed_batches.value_or(timed.steps) != timed.steps) {
      record.status = "INVALID";
      record.reason = fmt::format(
          "rank {} timed {}, others {}: its phases can't be set beside theirs; give every rank as many batches",
          rank.rank, base::counted(timed.steps, "iteration"), *record.timed_batches);
      drop_figures(record);
      return record;
    }
    record.timed_batches = timed.steps;
  }
  if (seconds.empty()) {
    record.status = "CRASHED";
    record.reason = why_no_steps(report, end, end.wall_s);
    return record;
  }
  std::ranges::sort(seconds);
  record.total_s = seconds.back();
  if (of.of_other_ranks && seconds.size() > 1) {
    seconds.pop_back();
    record.total_s = median(seconds);
  }
  set_job(record, report);
  record.warmup_batches = record.job->settled;
  record.window = {"", 0, *record.timed_batches - 1};
  record.config.timed_batches = *record.timed_batches;
  record.config.batch = std::max<int64_t>(1, items / std::max<int64_t>(1, *record.timed_batches));
  record.images_per_second = double(items) / *record.total_s;
  const double taken = end.outside_share + end.stolen_share;
  if (taken <= kSpoiledShare) return record;
  const std::string others = fmt::format("others took {:.0f} % of the processor", 100 * taken);
  if (of.keep_disturbed) {
    record.notes.push_back(others);
    return record;
  }
  record.status = "INVALID";
  record.reason =
      others + ", so that a verdict would be about them; end what else runs here, or add --keep-disturbed";
  drop_figures(record);
  return record;
}

}  // namespace harness
