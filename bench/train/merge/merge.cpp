#include "bench/train/merge/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/train/clock/phase_clock.h"
#include "bench/train/merge/link_proof.h"
#include "harness/contract/rank_report.h"

namespace bench {

using harness::RankReport;
using harness::Record;
using harness::RecordCheck;

// Appends one rank's {name: [batch]} to {name: [rank][batch]}.
static void move_samples(harness::RankSamples& samples, harness::Samples& merged) {
  for (auto& [name, values] : samples) merged[name].push_back(std::move(values));
}

// Keeps passed checks of rank 0 only, and failed checks of every rank.
static void add_checks(RankReport& report, size_t world_size, std::vector<RecordCheck>& merged) {
  for (RecordCheck& check : report.checks) {
    if (check.ok && report.place.rank != 0) continue;
    if (world_size > 1) check.detail = fmt::format("rank {}: {}", report.place.rank, check.detail);
    merged.push_back(std::move(check));
  }
}

static void raise(std::optional<double>& highest, const std::optional<double>& value) {
  if (value) highest = std::max(highest.value_or(0), *value);
}

// Values that are equal on all ranks.
static void take_common(RankReport& report, size_t world_size, Record& merged) {
  merged.cache = report.cache;
  merged.strategy = std::move(report.strategy);
  merged.clock = {report.clock_calls, PhaseClock::nanoseconds_per_call()};
  if (world_size > 1) merged.communication = std::move(report.traffic.value());
}

// Merges ceilings: times of the slowest rank, means over ranks of the phases.
struct Ceilings {
  std::optional<harness::RecordCeilings> merged;
  double read_ms = 0, decode_ms = 0;

  void add(const harness::RankCeilings& rank, size_t world_size) {
    if (!merged) merged.emplace().batches = rank.batches;
    raise(merged->compute_ms, rank.compute_ms);
    raise(merged->loader_ms, rank.loader_ms);
    for (const auto& [phase, ms] : rank.compute) merged->compute[phase] += ms / double(world_size);
    read_ms += rank.read_ms.value_or(0);
    decode_ms += rank.decode_ms.value_or(0);
    if (read_ms + decode_ms > 0) merged->read_share = read_ms / (read_ms + decode_ms);
  }
};

// Sums over the ranks, converted to shares and means by write().
struct Sums {
  std::vector<double> loss;
  harness::RankAnswers correct;
  int64_t bad_images = 0, device_bytes = 0, encoded_bytes = 0;
  bool device_bytes_known = true;

  void add(const RankReport& report) {
    if (loss.empty()) loss.resize(report.loss.size());  // none from devices that compute nothing
    for (size_t batch = 0; batch < loss.size(); ++batch) loss[batch] += report.loss.at(batch);
    correct.top1 += report.correct.top1;
    correct.top5 += report.correct.top5;
    correct.images += report.correct.images;
    bad_images += report.bad_images;
    encoded_bytes += report.cache.encoded_bytes.value_or(0);
    device_bytes_known = device_bytes_known && report.cache.device_bytes;
    device_bytes += report.cache.device_bytes.value_or(0);
  }

  void write(size_t world_size, Record& merged) const {
    for (const double sum : loss) merged.loss.push_back(sum / double(world_size));
    if (correct.images > 0) {
      merged.top1 = double(correct.top1) / double(correct.images);
      merged.top5 = double(correct.top5) / double(correct.images);
    }
    merged.bad_images = bad_images;
    merged.cache->encoded_bytes = encoded_bytes;
    merged.cache->device_bytes = device_bytes_known ? std::optional(device_bytes) : std::nullopt;
  }
};

// Values that only some ranks report.
static void take_facts_of_some(RankReport& report, Record& merged,
                               std::vector<harness::RankTimeline>& timelines,
                               std::vector<harness::LinkNode>& links) {
  if (report.accuracy) merged.accuracy = report.accuracy;
  if (report.timeline) timelines.push_back(std::move(*report.timeline));
  if (report.gpu) merged.gpu.emplace_back(*report.gpu).rank = report.place.rank;
  if (report.trace) {
    if (!merged.trace) merged.trace.emplace();
    merged.trace->ranks.emplace_back(*report.trace).rank = report.place.rank;
  }
  if (report.link) links.emplace_back(*report.link).node = report.place.node;
}

// The record's `timeline` of the last timed batch. Steady clocks are comparable only on one machine; with
// several machines each rank's events start at 0.
static harness::RecordTimeline merge_timelines(std::vector<harness::RankTimeline> parts, int64_t batch) {
  bool one_host = true;
  int64_t earliest = parts.at(0).begin_ns;
  for (const harness::RankTimeline& part : parts) {
    one_host = one_host && part.machine == parts[0].machine;
    earliest = std::min(earliest, part.begin_ns);
  }
  harness::RecordTimeline timeline;
  timeline.batch = batch;
  timeline.clocks = one_host ? "one host" : "each rank's own";
  for (harness::RankTimeline& part : parts) {
    const double later_ns = one_host ? double(part.begin_ns - earliest) : 0;
    for (harness::TimelineEvent& event : part.events) {
      for (double* ms : {&event.begin_ms, &event.end_ms}) *ms = std::round(*ms * 1e6 + later_ns) / 1e6;
      timeline.events.push_back(std::move(event));
    }
  }
  return timeline;
}

Record merge_reports(const harness::Row& row, std::vector<std::string> reports) {
  const size_t world_size = reports.size();
  Record merged;
  merged.world_size = int64_t(world_size);
  merged.ring = {row.ring_depth, {}, {}, {}};
  merged.total_s = 0;
  bool equal_weights = true;
  std::string weights;
  Ceilings ceilings;
  Sums sums;
  std::vector<harness::RankTimeline> timelines;
  std::vector<harness::LinkNode> links;
  for (std::string& text : reports) {
    RankReport report = harness::decode<RankReport>(nlohmann::json::parse(std::exchange(text, {})));
    if (merged.rank_map.empty()) {
      weights = report.weights;
      take_common(report, world_size, merged);
    }
    equal_weights = equal_weights && report.weights == weights;
    if (merged.communication) raise(merged.communication->ceiling_ms, report.ceiling_ms);
    if (report.ceilings) ceilings.add(*report.ceilings, world_size);
    sums.add(report);
    merged.total_s = std::max(*merged.total_s, report.total_s);
    merged.ring->buffer_bytes.push_back(report.loader_buffer_bytes);
    merged.ring->ready_at_start.push_back(report.ready.at_start);
    merged.ring->ready_at_end.push_back(report.ready.at_end);
    move_samples(report.samples_ms, merged.samples_ms);
    move_samples(report.warmup_ms, merged.warmup_ms);
    move_samples(report.spans_ms, merged.spans_ms);
    move_samples(report.device_ms, merged.device_ms);
    std::move(report.warnings.begin(), report.warnings.end(), std::back_inserter(merged.warnings));
    take_facts_of_some(report, merged, timelines, links);
    add_checks(report, world_size, merged.checks);
    merged.rank_map.push_back(std::move(report.place));
  }
  sums.write(world_size, merged);
  merged.ceilings = ceilings.merged;
  if (!timelines.empty()) merged.timeline = merge_timelines(std::move(timelines), row.timed_batches - 1);
  if (auto check = prove_transports(merged.rank_map, row.link)) merged.checks.push_back(std::move(*check));
  if (!links.empty()) {
    LinkProof proof =
        prove_link(merged.communication.value(), std::move(links), int64_t(world_size),
                   row.device_file.empty() ? NodeWire{} : NodeWire{row.wire == "tree", row.wire_divisor});
    merged.link = std::move(proof.record);
    merged.checks.push_back({"link", proof.violation.empty(), proof.violation});
  }
  if (world_size > 1 && !weights.empty())
    merged.checks.push_back(
        {"weights", equal_weights,
         equal_weights ? "equal on all ranks after the slice" : "ranks ended with different weights"});
  return merged;
}

}  // namespace bench
