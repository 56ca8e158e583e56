// A rank's report with every key of bench/train/rank_report.h: log-normal phase times with realistic
// precision, and fixed facts that pass all checks.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "harness/contract/phases.h"
#include "harness/contract/row.h"

namespace bench {

inline nlohmann::json fake_report(const harness::Row& row, int rank) {
  using nlohmann::json;
  std::mt19937_64 random{uint64_t(rank)};
  const auto times = [&](int64_t batches) {
    std::lognormal_distribution<double> ms(2, 0.5);
    std::vector<double> values;
    for (int64_t i = 0; i < batches; ++i) values.push_back(std::floor(ms(random) * 1e6) / 1e6);
    return values;
  };
  json samples, warmup;
  for (const std::string_view name : harness::kPhaseNames) {
    samples[std::string(name)] = times(row.timed_batches);
    warmup[std::string(name)] = times(row.warmup_batches);
  }
  std::vector<float> loss;
  for (const double ms : times(row.timed_batches)) loss.push_back(float(ms));
  const auto passed = [](const char* name) { return json{{"name", name}, {"ok", true}, {"detail", "fine"}}; };
  const auto event = [&](const char* track, const char* name, double begin_ms, double end_ms) {
    return json{{"rank", rank}, {"track", track}, {"name", name}, {"begin_ms", begin_ms}, {"end_ms", end_ms}};
  };
  return {{"place",
           {{"rank", rank},
            {"node", 0},
            {"host", "fake"},
            {"device", fmt::format("cpu:{}", rank)},
            {"cpus", std::vector<int>(16, rank)}}},
          {"total_s", 20 + 1e-9 * rank},
          {"cpu_time",
           {{"total_s", 320},
            {"busy_s", 200},
            {"stolen_s", 0},
            {"own_s", 200},
            {"queued_s", 1},
            {"kernel_s", 0},
            {"machine", 1},
            {"clock_change", -0.01}}},
          {"loss", loss},
          {"correct", {{"top1", 1}, {"top5", 2}, {"images", 10}}},
          {"ready", {{"at_start", row.ring_depth}, {"at_end", 0}}},
          {"loader_buffer_bytes", 1 << 20},
          {"cache",
           {{"requested", row.cache},
            {"storage_used", row.storage},
            {"state", "none"},
            {"resident_before", nullptr},
            {"device_bytes", 1000},
            {"encoded_bytes", 5000},
            {"device_bytes_by_third", {300, 400, 300}},
            {"encoded_bytes_by_third", {1500, 2000, 1500}},
            {"note", ""}}},
          {"checks", {passed("gradients"), passed("loss"), passed("cache")}},
          {"strategy", json::object()},
          {"weights", "0123456789abcdef"},
          {"clock_calls", 12.0},
          {"samples_ms", samples},
          {"warmup_ms", warmup},
          {"spans_ms", {{"read", times(row.timed_batches)}, {"decode", times(row.timed_batches)}}},
          {"bad_images", 0},
          {"traffic",
           {{"all_reduced_bytes", 1000},
            {"broadcast_bytes", 10},
            {"gathered_bytes", 0},
            {"all_reduces", json::array()}}},
          {"ceiling_ms", 1.5},
          {"ceilings",
           {{"batches", row.ceiling_batches},
            {"loader_ms", 10.0},
            {"read_ms", 30.0},
            {"decode_ms", 90.0},
            {"loader_batch_ms", std::vector<double>(size_t(row.ceiling_batches), 10.0)},
            {"compute_ms", 5.0},
            {"compute_batch_ms", std::vector<double>(size_t(row.ceiling_batches), 5.0)},
            {"compute", {{"forward", 2.0}, {"backward", 3.0}}}}},
          {"timeline",
           {{"machine", 1},
            {"begin_ns", 1'000'000'000},
            {"events",
             {event("host", "load", 0, 1), event("host", "forward", 1, 3),
              event("collectives", "all_reduce", 2, 2.5)}}}},
          {"warnings", json::array()}};
}

}  // namespace bench
