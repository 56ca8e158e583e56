// Assembles the report from the results of the slice; rounds times to 1 ns and leaves out warm-up batches.
#include "bench/train/rank_report.h"

#include <fmt/format.h>

#include <cmath>

#include "bench/train/clock/rank_timeline.h"
#include "harness/base/machine.h"
#include "harness/base/process_limits.h"

namespace bench {

static std::vector<double> timed(const std::vector<double>& values, int64_t warmup) {
  return {values.begin() + warmup, values.end()};
}

static std::vector<double> rounded(std::vector<double> milliseconds) {
  for (double& value : milliseconds) value = harness::rounded_ms(value * 1e6);
  return milliseconds;
}

// This rank's bytes in the timed batches, and the all-reduces of the last batch in posting order.
static harness::RecordCommunication traffic_of(const SliceResult& result) {
  harness::RecordCommunication traffic;
  traffic.all_reduced_bytes = result.collective_bytes[size_t(Collective::all_reduce)];
  traffic.broadcast_bytes = result.collective_bytes[size_t(Collective::broadcast)];
  traffic.gathered_bytes = result.collective_bytes[size_t(Collective::all_gather)];
  for (const Traffic::Message& message : result.traffic.all_reduces)
    traffic.all_reduces.push_back({message.bytes, type_name(at::ScalarType(message.type))});
  return traffic;
}

static harness::RankPlace place_of(const SliceParts& parts, const RankInfo& rank) {
  harness::RankPlace place;
  place.rank = rank.rank;
  place.node = rank.node;
  place.host = base::host_name();
  place.device = fmt::format("{}:{}", parts.row.device, rank.local_rank);
  const std::vector<int> cpus = base::available_cpus();
  place.cpus.assign(cpus.begin(), cpus.end());
  place.nccl = parts.group.nccl();
  return place;
}

static void add_samples(const SliceParts& parts, const SliceResult& result, harness::RankReport& report) {
  const int64_t warmup = parts.row.warmup_batches, timed_batches = parts.row.timed_batches;
  for (const Spans::Span& span : parts.spans.all())
    report.spans_ms[span.name] = rounded(timed(span.batches_ms, warmup));
  for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    const std::string name(kPhaseNames[phase]);
    if (result.clock.enabled()) {
      report.samples_ms[name] = result.clock.milliseconds(Phase(phase), warmup, timed_batches);
      report.warmup_ms[name] = result.clock.milliseconds(Phase(phase), 0, warmup);
    }
    if (result.device_clock && harness::trains(parts.row))
      report.device_ms[name] =
          rounded(result.device_clock->milliseconds(Phase(phase), warmup, timed_batches));
  }
}

harness::RankReport rank_report(const SliceParts& parts, const RankInfo& rank, const SliceResult& result,
                                const harness::RecordCache& cache, const std::vector<Check>& checks) {
  harness::RankReport report;
  report.place = place_of(parts, rank);
  report.total_s = result.total_s;
  report.cpu_time = result.cpu_time;
  if (!result.loss.empty()) report.loss = timed(result.loss, parts.row.warmup_batches);
  report.correct = result.correct;
  report.ready = result.ready;
  report.cache = cache;
  report.checks = checks;
  report.notes = parts.device.notes();
  report.strategy = parts.strategy.describe();
  if (parts.device.computes()) report.weights = weights_fingerprint(parts.model);
  report.clock_calls = result.clock.calls_per_batch();
  add_samples(parts, result, report);
  if (rank.world_size > 1) report.traffic = traffic_of(result);
  if (result.link && rank.local_rank == 0) {
    harness::LinkNode& link = report.link.emplace();
    link.interface = parts.link.interface;
    link.sent_bytes = int64_t(result.link->sent);
    link.received_bytes = int64_t(result.link->received);
  }
  report.decoded = result.decoded;
  if (result.gpu) report.gpu = summary(*result.gpu, result.correct.images);
  if (rank.rank < kTimelineRanks && result.clock.enabled())
    report.timeline = rank_timeline(
        {result.clock.last_batch(), result.traffic.collectives, parts.strategy.device_intervals()},
        rank.rank);
  const LoaderStats stats = parts.loader.stats();
  report.loader_buffer_bytes = stats.buffer_bytes;
  report.bad_images = stats.bad_images;
  report.warnings = stats.warnings;
  return report;
}

}  // namespace bench
