#include "bench/train/merge/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "bench/train/clock/phase_clock.h"
#include "bench/train/merge/link_proof.h"
#include "bench/train/merge/timeline.h"

namespace bench {

using nlohmann::json;

// One rank's {name: [batch]} joins {name: [rank][batch]}. A parsed list has room to grow, which 1,024 ranks
// times all phases would keep for nothing.
static void move_samples(json& samples, json& merged) {
  for (auto& [name, values] : samples.get_ref<json::object_t&>()) {
    values.get_ref<json::array_t&>().shrink_to_fit();
    merged[name].push_back(std::move(values));
  }
}

// JSON has no NaN: a loss that is not finite travels as null.
static double number_or_nan(const json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

// Good ones once, bad ones by rank.
static void add_checks(const json& report, int rank, size_t world_size, json& merged) {
  for (json check : report.at("checks")) {
    if (check["ok"].get<bool>() && rank != 0) continue;
    if (world_size > 1)
      check["detail"] = fmt::format("rank {}: {}", rank, check["detail"].get<std::string>());
    merged.push_back(std::move(check));
  }
}

// Facts that not every rank need have.
static json with_rank(const json& report, const char* key) {
  json facts = report.at(key);
  facts["rank"] = report.at("place").at("rank");
  return facts;
}

// Times of the slowest rank, phases as the mean over ranks.
static void add_ceilings(const json& report, size_t world_size, json& merged) {
  if (merged.is_null()) merged = {{"batches", report.at("batches")}, {"compute", json::object()}};
  for (const char* key : {"compute_ms", "loader_ms"})
    if (report.contains(key)) merged[key] = std::max(merged.value(key, 0.0), report[key].get<double>());
  for (const auto& [phase, ms] : report.at("compute").items())
    merged["compute"][phase] = merged["compute"].value(phase, 0.0) + ms.get<double>() / double(world_size);
}

json merge_reports(const harness::Row& row, std::vector<std::string> reports) {
  const size_t world_size = reports.size();
  json merged = {{"world_size", world_size},           {"bad_images", 0},
                 {"warnings", json::array()},          {"samples_ms", json::object()},
                 {"warmup_ms", json::object()},        {"spans_ms", json::object()},
                 {"device_ms", json::object()},        {"checks", json::array()},
                 {"ring", {{"depth", row.ring_depth}}}};
  double total_s = 0;
  std::vector<double> loss(size_t(row.timed_batches), 0.0);
  int64_t top1 = 0, top5 = 0, images = 0, bad_images = 0, device_bytes = 0, encoded_bytes = 0;
  bool device_bytes_known = true, equal_weights = true;
  json weights, link = json::array();
  std::vector<json> timelines;
  double read_ms = 0, decode_ms = 0;
  for (std::string& text : reports) {
    json report = json::parse(std::exchange(text, {}));
    if (merged["rank_map"].empty()) {  // what is the same on all ranks, or ought to be
      merged["cache"] = report.at("cache");
      merged["strategy"] = report.at("strategy");
      merged["clock"] = {{"calls", report.at("clock_calls")},
                         {"ns_per_call", PhaseClock::nanoseconds_per_call()}};
      weights = report.at("weights");
      if (world_size > 1) merged["communication"] = std::move(report.at("traffic"));
    }
    if (world_size > 1)
      merged["communication"]["ceiling_ms"] =
          std::max(merged["communication"].value("ceiling_ms", 0.0), report.at("ceiling_ms").get<double>());
    if (report.contains("ceilings")) {
      add_ceilings(report["ceilings"], world_size, merged["ceilings"]);
      read_ms += report["ceilings"].value("read_ms", 0.0);
      decode_ms += report["ceilings"].value("decode_ms", 0.0);
    }
    if (report.contains("accuracy")) merged["accuracy"] = std::move(report["accuracy"]);
    if (report.contains("timeline")) timelines.push_back(std::move(report["timeline"]));
    if (report.contains("gpu")) merged["gpu"].push_back(with_rank(report, "gpu"));
    if (report.contains("trace")) merged["trace"]["ranks"].push_back(with_rank(report, "trace"));
    if (report.contains("link")) {
      link.push_back(std::move(report["link"]));
      link.back()["node"] = report.at("place").at("node");
    }
    equal_weights = equal_weights && report.at("weights") == weights;
    add_checks(report, report.at("place").at("rank"), world_size, merged["checks"]);
    merged["rank_map"].push_back(report.at("place"));
    total_s = std::max(total_s, report.at("total_s").get<double>());
    for (const char* key : {"samples_ms", "warmup_ms", "spans_ms", "device_ms"})
      if (report.contains(key)) move_samples(report[key], merged[key]);
    const json& rank_loss = report.at("loss");
    for (size_t batch = 0; batch < loss.size(); ++batch)
      loss[batch] += number_or_nan(rank_loss.at(batch)) / double(world_size);
    top1 += report.at("correct").at(0).get<int64_t>();
    top5 += report.at("correct").at(1).get<int64_t>();
    images += report.at("correct").at(2).get<int64_t>();
    merged["ring"]["buffer_bytes"].push_back(report.at("loader_buffer_bytes"));
    merged["ring"]["ready_at_start"].push_back(report.at("ready").at(0));
    merged["ring"]["ready_at_end"].push_back(report.at("ready").at(1));
    bad_images += report.at("bad_images").get<int64_t>();
    for (json& warning : report.at("warnings")) merged["warnings"].push_back(std::move(warning));
    encoded_bytes += report.at("cache").at("encoded_bytes").get<int64_t>();
    const json& from_device = report.at("cache").at("device_bytes");
    device_bytes_known = device_bytes_known && !from_device.is_null();
    if (device_bytes_known) device_bytes += from_device.get<int64_t>();
  }
  merged["total_s"] = total_s;
  merged["loss"] = loss;
  merged["top1"] = double(top1) / double(images);
  merged["top5"] = double(top5) / double(images);
  merged["bad_images"] = bad_images;
  merged["cache"]["encoded_bytes"] = encoded_bytes;
  merged["cache"]["device_bytes"] = device_bytes_known ? json(device_bytes) : json();
  if (read_ms + decode_ms > 0) merged["ceilings"]["read_share"] = read_ms / (read_ms + decode_ms);
  if (!timelines.empty()) merged["timeline"] = merge_timelines(std::move(timelines), row.timed_batches - 1);
  if (json check = prove_transports(merged["rank_map"], row.link); !check.is_null())
    merged["checks"].push_back(std::move(check));
  if (!link.empty()) {
    LinkProof proof = prove_link(merged["communication"], link, int64_t(world_size));
    merged["link"] = std::move(proof.record);
    merged["checks"].push_back(
        {{"name", "link"}, {"ok", proof.violation.empty()}, {"detail", proof.violation}});
  }
  if (world_size > 1)
    merged["checks"].push_back({{"name", "weights"},
                                {"ok", equal_weights},
                                {"detail", equal_weights ? "equal on all ranks after the slice"
                                                         : "ranks ended with different weights"}});
  return merged;
}

}  // namespace bench
