// Runs for page tests: golden records, hostile texts, and the largest supported size.
#pragma once
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "harness/report/results.h"
#include "harness/stats/records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/typed_records.h"

// A run's folder with these records.
struct PageRun {
  const TemporaryFolder folder;

  explicit PageRun(const std::vector<nlohmann::json>& records) {
    std::ofstream file(folder / "records.jsonl");
    for (const nlohmann::json& record : records)
      file << record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }
  std::filesystem::path page(const std::filesystem::path& source_dir = SOURCE_DIR) const {
    std::ostringstream left_out, console;
    const auto records = harness::read_records(folder, left_out);
    harness::write_page(folder, records, harness::summarise(records), left_out.str(), source_dir, console);
    return folder / "report.html";
  }
  std::string text(const char* file) const {
    std::ifstream input(folder / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(input), {}};
  }
};

inline std::vector<nlohmann::json> hostile_records() {
  std::vector<nlohmann::json> records = golden("matrix.jsonl");
  records[0]["config"]["title"] = "</script><img src=x onerror='count(1)'><!-- <script> {{records}} ]]>";
  records[1]["config"]["title"] = "bytes \x01\x7f and \xE2\x80\xA8 and '\"`${1}";
  records[2]["row"] = records[2]["config"]["id"] = "a<b>&amp;\"row\"";
  for (nlohmann::json& record : records)
    if (record["status"] != "OK") record["reason"] = "<svg onload=count(2)> \xff\xfe not UTF-8";
  records[3]["notes"] = {"<iframe src=http://example.invalid></iframe>", "javascript:count(3)"};
  return records;
}

// Times with nanosecond resolution, so that they compress like real ones: 27 rows, 300 batches, 8 ranks,
// every span that a row can have.
inline std::vector<nlohmann::json> large_records() {
  constexpr int ranks = 8, batches = 300, warmup = 30;
  std::mt19937_64 random(1);
  const auto times = [&](double mean_ms, int count) {
    std::lognormal_distribution<double> noise(std::log(mean_ms), 0.2);
    nlohmann::json per_rank = nlohmann::json::array();
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<double> list;
      for (int batch = 0; batch < count; ++batch) list.push_back(std::round(noise(random) * 1e6) / 1e6);
      per_rank.push_back(list);
    }
    return per_rank;
  };
  const nlohmann::json unused(ranks, std::vector<double>(batches, 0.0));
  std::vector<nlohmann::json> records = golden("matrix.jsonl");
  for (nlohmann::json& record : records) {
    const std::string row = record["row"];
    record["status"] = "OK";
    record["reason"] = "";
    record["timed_batches"] = batches;
    record["world_size"] = ranks;
    nlohmann::json samples, warmup_ms, spans;
    for (const std::string& phase : harness::phase_names()) samples[phase] = unused;
    for (const auto& [phase, ms] : std::vector<std::pair<const char*, double>>{{"load", 5},
                                                                               {"h2d", 0.02},
                                                                               {"broadcast", 8},
                                                                               {"forward", 16},
                                                                               {"loss", 0.09},
                                                                               {"backward", 33},
                                                                               {"sync", 20},
                                                                               {"step", 0.9},
                                                                               {"other", 0.002}}) {
      samples[phase] = times(ms, batches);
      warmup_ms[phase] = times(ms, warmup);
    }
    for (const auto& [span, ms] :
         std::vector<std::pair<const char*, double>>{{"read", 0.15}, {"decode", 5}, {"communication", 60}})
      spans[span] = times(ms, batches);
    if (row == "14") {
      for (int layer = 1; layer <= 20; ++layer)
        spans["sync_bn/bn" + std::to_string(layer)] = times(0.5, batches);
      spans["sync_bn_backward"] = times(9, batches);
    }
    record["samples_ms"] = samples;
    record["warmup_ms"] = warmup_ms;
    record["spans_ms"] = spans;
    record["loss"] = times(3, batches)[0];
    record["total_s"] = 26.0 + double(random() % 1000) / 1000;
    record["images_per_second"] = 32 * batches / record["total_s"].get<double>();
    record["communication"] = {{"all_reduced_bytes", 997315200},
                               {"all_reduces", {{{"bytes", 3324384}, {"type", "float32"}}}},
                               {"broadcast_bytes", 2928000},
                               {"ceiling_ms", 2.04},
                               {"gathered_bytes", 0}};
  }
  return records;
}
