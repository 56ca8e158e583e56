// Made-up records of the article's rows on emulated devices: batch / 32, time x 8, 60 timed batches.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/config/device_file.h"
#include "harness/report/summary/article_comparison.h"
#include "tests/support/article_records.h"

namespace harness::emulated_records {

using nlohmann::json;

inline Emulation emulation() {
  return {read_device_file(device_file(SOURCE_DIR, kDefaultDeviceFile)), 32, 8};
}

// A record whose total is that of `article_s` seconds per 300 batches at the article's size.
inline json emulated(const std::string& id, double article_s, int repeat = 0) {
  const double step_ms = article_s / kArticleBatches * 1000 * 8 / 32;
  const std::map<std::string, double> phases = {
      {"load", 0.0}, {"forward", 0.4 * step_ms}, {"backward", 0.6 * step_ms}};
  json record = article_records::record_of(id, phases, repeat);
  static const Matrix matrix = article("emulated");
  record["config"] = to_json(row_of(matrix.rows, id));
  record["config"]["device"] = "emulated";
  record["config"]["device_file"] = kDefaultDeviceFile;
  record["config"]["core_images_per_s"] = 0;  // this machine's cores
  record["config"]["read_rate"] = 0;
  record["scale"] = {{"name", "emulated"}, {"c0", 2}, {"batch_divisor", 32}, {"summary", "made up"}};
  record["device"] = {{"kind", "emulated"}, {"name", kDefaultDeviceFile}, {"label", "4 emulated replicas"}};
  record["device_ms"] = record["samples_ms"];
  record["emulated"] = {"device: v100-article (configs/devices), durations x 8"};
  record["emulation"] = encode(emulation());
  record["ceilings"] = {{"batches", 20}, {"loader_ms", 1.0}, {"compute_ms", step_ms}};
  // DDP's buckets of ResNet18 in the order of their all-reduces.
  if (record["world_size"] != 1)
    record["communication"] = {{"all_reduces",
                                {{{"bytes", 2048000}, {"type", "float32"}},
                                 {{"bytes", 28852128}, {"type", "float32"}},
                                 {{"bytes", 15857920}, {"type", "float32"}}}}};
  return record;
}

inline json failed(const std::string& id, const std::string& status, const std::string& reason) {
  json record = article_records::failed(emulated(id, 1), status, reason);
  for (const char* key : {"device_ms", "ceilings"}) record.erase(key);
  return record;
}

inline const Summary& summary_of(const std::vector<json>& records, const std::string& device = "emulated") {
  static std::deque<std::vector<Summary>> kept;
  for (const json& record : records) EXPECT_NO_THROW(record_from_json(record));
  kept.push_back(summarise(typed(records)));
  for (const Summary& summary : kept.back())
    if (summary.device == device) return summary;
  throw std::out_of_range("no summary of device " + device);
}

}  // namespace harness::emulated_records
