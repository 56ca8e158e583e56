#include "bench/train/rank_report.h"

#include <fmt/format.h>

#include <cmath>

#include "bench/train/merge/timeline.h"
#include "harness/base/machine.h"

namespace bench {

using nlohmann::json;

static std::vector<double> timed(const std::vector<double>& values, int64_t warmup) {
  return {values.begin() + warmup, values.end()};
}

// To the nanosecond, which is what a clock told: a sum of such times prints up to 17 digits.
static std::vector<double> rounded(std::vector<double> milliseconds) {
  for (double& value : milliseconds) value = std::round(value * 1e6) / 1e6;
  return milliseconds;
}

// By this rank in the timed batches, and its all-reduces of the last one in their order.
static json traffic_of(const SliceResult& result) {
  json messages = json::array();
  for (const Traffic::Message& message : result.all_reduces)
    messages.push_back({{"bytes", message.bytes}, {"type", type_name(at::ScalarType(message.type))}});
  return {{"all_reduced_bytes", result.collective_bytes[size_t(Collective::all_reduce)]},
          {"broadcast_bytes", result.collective_bytes[size_t(Collective::broadcast)]},
          {"gathered_bytes", result.collective_bytes[size_t(Collective::all_gather)]},
          {"all_reduces", messages}};
}

json rank_report(const SliceParts& parts, const RankInfo& rank, const SliceResult& result, const json& cache,
                 const std::vector<Check>& checks) {
  const harness::Row& row = parts.row;
  const int64_t warmup = row.warmup_batches;
  json report = {{"place",
                  {{"rank", rank.rank},
                   {"node", rank.node},
                   {"host", harness::host_name()},
                   {"device", fmt::format("{}:{}", row.device, rank.local_rank)},
                   {"cpus", harness::available_cpus()}}},
                 {"total_s", result.total_s},
                 {"loss", timed(result.loss, warmup)},
                 {"correct", {result.correct_top1, result.correct_top5, result.images}},
                 {"ready", {result.ready_at_start, result.ready_at_end}},
                 {"cache", cache},
                 {"checks", checks},
                 {"strategy", parts.strategy.describe()},
                 {"weights", weights_fingerprint(parts.model)},
                 {"clock_calls", result.clock.calls_per_batch()}};
  for (const Spans::Span& span : parts.spans.all())
    report["spans_ms"][span.name] = rounded(timed(span.batches_ms, warmup));
  if (json facts = parts.group.describe(); !facts.empty()) report["place"][row.backend] = std::move(facts);
  if (rank.world_size > 1) report["traffic"] = traffic_of(result);
  if (result.link && rank.local_rank == 0)
    report["link"] = {{"interface", parts.link.interface()},
                      {"sent_bytes", result.link->sent},
                      {"received_bytes", result.link->received}};
  if (result.gpu) report["gpu"] = summary(*result.gpu, result.images);
  if (result.clock.enabled())
    for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
      const std::string name(kPhaseNames[phase]);
      report["samples_ms"][name] = result.clock.milliseconds(Phase(phase), warmup, row.timed_batches);
      report["warmup_ms"][name] = result.clock.milliseconds(Phase(phase), 0, warmup);
    }
  if (result.device_clock)
    for (size_t phase = 0; phase < kPhaseNames.size(); ++phase)
      report["device_ms"][kPhaseNames[phase]] =
          rounded(result.device_clock->milliseconds(Phase(phase), warmup, row.timed_batches));
  if (rank.rank < kTimelineRanks && result.clock.enabled())
    report["timeline"] = rank_timeline(
        {result.clock.last_batch(), result.collectives, parts.strategy.device_intervals()}, rank.rank);
  const LoaderStats stats = parts.loader.stats();
  report["loader_buffer_bytes"] = stats.buffer_bytes;
  report["bad_images"] = stats.bad_images;
  report["warnings"] = stats.warnings;
  return report;
}

}  // namespace bench
