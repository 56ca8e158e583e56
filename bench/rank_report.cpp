#include "bench/rank_report.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <limits>

namespace bench {

using nlohmann::json;

static std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

static std::vector<double> timed(const std::vector<double>& values, int64_t warmup) {
  return {values.begin() + warmup, values.end()};
}

json rank_report(const SliceParts& parts, const RankInfo& rank, const SliceResult& result, const json& cache,
                 const std::vector<Check>& checks) {
  const harness::Row& row = parts.row;
  const int64_t warmup = row.warmup_batches;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  json report = {{"place",
                  {{"rank", rank.rank},
                   {"node", rank.node},
                   {"host", host},
                   {"device", fmt::format("{}:{}", row.device, rank.local_rank)},
                   {"cpus", allowed_cpus()}}},
                 {"total_s", result.total_s},
                 {"loss", timed(result.loss, warmup)},
                 {"correct", {result.correct_top1, result.correct_top5, result.images}},
                 {"ready", {result.ready_at_start, result.ready_at_end}},
                 {"cache", cache},
                 {"checks", checks},
                 {"strategy", parts.strategy.describe()},
                 {"weights", weights_fingerprint(parts.model)},
                 {"clock_calls", result.clock.calls_per_batch()}};
  report["spans_ms"] = {{"read", timed(result.read_ms, warmup)}, {"decode", timed(result.decode_ms, warmup)}};
  if (result.clock.enabled())
    for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
      const std::string name(kPhaseNames[phase]);
      report["samples_ms"][name] = result.clock.milliseconds(Phase(phase), warmup, row.timed_batches);
      report["warmup_ms"][name] = result.clock.milliseconds(Phase(phase), 0, warmup);
    }
  const LoaderStats stats = parts.loader.stats();
  report["bad_images"] = stats.bad_images;
  report["warnings"] = stats.warnings;
  return report;
}

// {name: [rank][batch]} out of each rank's {name: [batch]}.
static json by_rank(const std::vector<json>& ranks, const char* key) {
  json merged = json::object();
  for (const json& rank : ranks)
    if (rank.contains(key))
      for (const auto& [name, values] : rank[key].items()) merged[name].push_back(values);
  return merged;
}

// JSON has no NaN: a loss that is not finite travels as null.
static double number_or_nan(const json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

static void merge_checks(const std::vector<json>& ranks, json& merged) {
  json checks = json::array();
  for (const json& rank : ranks)
    for (json check : rank["checks"]) {
      if (check["ok"].get<bool>() && rank["place"]["rank"] != 0)
        continue;  // good ones once, bad ones by rank
      if (ranks.size() > 1)
        check["detail"] =
            fmt::format("rank {}: {}", rank["place"]["rank"].get<int>(), check["detail"].get<std::string>());
      checks.push_back(check);
    }
  bool equal = true;
  for (const json& rank : ranks) equal = equal && rank["weights"] == ranks[0]["weights"];
  if (ranks.size() > 1)
    checks.push_back(
        Check{"weights", equal,
              equal ? "equal on all ranks after the slice" : "ranks ended with different weights"});
  merged["checks"] = checks;
}

json merge_reports(const harness::Row& row, const std::vector<std::string>& reports) {
  std::vector<json> ranks;
  for (const std::string& report : reports) ranks.push_back(json::parse(report));

  json merged = {
      {"total_s", 0.0}, {"world_size", ranks.size()}, {"bad_images", 0}, {"warnings", json::array()}};
  for (const char* key : {"samples_ms", "warmup_ms", "spans_ms"}) merged[key] = by_rank(ranks, key);
  merged["device_ms"] = json::object();
  std::vector<double> loss(size_t(row.timed_batches), 0.0);
  int64_t top1 = 0, top5 = 0, images = 0, device_bytes = 0, encoded_bytes = 0;
  bool device_bytes_known = true;
  merged["ring"] = {{"depth", row.ring_depth}};
  for (const json& rank : ranks) {
    merged["total_s"] = std::max(merged["total_s"].get<double>(), rank["total_s"].get<double>());
    merged["rank_map"].push_back(rank["place"]);
    for (size_t batch = 0; batch < loss.size(); ++batch)
      loss[batch] += number_or_nan(rank["loss"][batch]) / double(ranks.size());
    top1 += rank["correct"][0].get<int64_t>();
    top5 += rank["correct"][1].get<int64_t>();
    images += rank["correct"][2].get<int64_t>();
    merged["ring"]["ready_at_start"].push_back(rank["ready"][0]);
    merged["ring"]["ready_at_end"].push_back(rank["ready"][1]);
    merged["bad_images"] = merged["bad_images"].get<int64_t>() + rank["bad_images"].get<int64_t>();
    for (const json& warning : rank["warnings"]) merged["warnings"].push_back(warning);
    encoded_bytes += rank["cache"]["encoded_bytes"].get<int64_t>();
    if (rank["cache"]["device_bytes"].is_null())
      device_bytes_known = false;
    else
      device_bytes += rank["cache"]["device_bytes"].get<int64_t>();
  }
  merged["loss"] = loss;
  merged["top1"] = double(top1) / double(images);
  merged["top5"] = double(top5) / double(images);
  merged["cache"] = ranks[0]["cache"];
  merged["cache"]["encoded_bytes"] = encoded_bytes;
  if (device_bytes_known) merged["cache"]["device_bytes"] = device_bytes;
  merged["strategy"] = ranks[0]["strategy"];
  merged["clock"] = {{"calls", ranks[0]["clock_calls"]}, {"ns_per_call", PhaseClock::nanoseconds_per_call()}};
  merge_checks(ranks, merged);
  return merged;
}

}  // namespace bench
