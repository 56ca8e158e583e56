// Made-up records of the article's rows, and the tables made of them.
#pragma once
#include <gtest/gtest.h>

#include "harness/report/article_tables.h"
#include "harness/stats/records.h"
#include "tests/support/article_rows.h"
#include "tests/support/typed_records.h"

namespace harness::article_records {

using nlohmann::json;

// A made-up record of a row: 60 batches of the same phases, in ms.
inline json record_of(const Row& row, const Times& phases, int repeat = 0) {
  const bool processes = row.strategy != "single" && row.strategy != "data_parallel";
  const int64_t ranks = processes ? row.nodes * row.devices : 1;
  constexpr int kBatches = 60;
  json samples = json::object();
  double step_ms = 0;
  for (const auto& [name, ms] : phases) {
    samples[name] = json(size_t(ranks), json(size_t(kBatches), ms));
    step_ms += ms;
  }
  const double total_s = step_ms * kBatches / 1000;
  return {{"schema", 1},
          {"row", row.id},
          {"repeat", repeat},
          {"status", "OK"},
          {"reason", ""},
          {"config", to_json(row)},
          {"scale", {{"name", "rehearsal"}, {"c0", 4}, {"batch_divisor", 16}, {"summary", "made up"}}},
          {"device", {{"kind", "cpu"}, {"name", "golden"}, {"label", "1 CPU replica"}}},
          {"machine", {{"cpu", "golden"}, {"cores", 2}, {"memory_bytes", 4e9}}},
          {"build", {{"libtorch", "0.0.0"}, {"revision", "golden"}}},
          {"versions", {{"libtorch", "0.0.0"}, {"lmdb", "0.9"}}},
          {"data", {{"fingerprint", "golden"}, {"images", 1}, {"kind", "stand-in"}}},
          {"precision", {{"label", row.precision == "o2" ? "O2 in bf16" : "O0"}}},
          {"cache", {{"state", "warm"}, {"storage_used", row.storage}}},
          {"world_size", ranks},
          {"timed_batches", kBatches},
          {"total_s", total_s},
          {"images_per_second", double(row.batch) * kBatches / total_s},
          {"samples_ms", samples},
          {"notes", json::array()},
          {"emulated", json::array()}};
}

// Of a row as configs/article.yaml has it.
inline json record_of(const std::string& id, const Times& phases, int repeat = 0) {
  static const Matrix matrix = article();
  return record_of(row_of(matrix.rows, id), phases, repeat);
}

inline json failed(json record, const std::string& status, const std::string& reason) {
  for (const char* key : {"total_s", "images_per_second", "samples_ms"}) record.erase(key);
  record["status"] = status;
  record["reason"] = reason;
  return record;
}

inline std::vector<Grid> tables_of(const std::vector<json>& records) {
  for (const json& record : records) EXPECT_NO_THROW(record_from_json(record));
  return article_tables(summarise(typed(records)).at(0));
}

// Five runs of each row, whose times are 0.96 to 1.04 times those of the record: the exact interval of a
// ratio then reaches from 0.98 / 1.04 to 1.04 / 0.98 of it, the third smallest and largest of the 25
// quotients.
inline std::vector<json> five_runs(const std::vector<json>& records) {
  std::vector<json> runs;
  for (int repeat = 0; repeat < 5; ++repeat)
    for (json record : records) {
      const double factor = 0.96 + 0.02 * repeat;
      record["repeat"] = repeat;
      if (record.contains("total_s")) {
        record["total_s"] = factor * record["total_s"].get<double>();
        for (json& phase : record["samples_ms"])
          for (json& rank : phase)
            for (json& ms : rank) ms = factor * ms.get<double>();
      }
      runs.push_back(record);
    }
  return runs;
}

inline const Times kOne = {{"load", 1},      {"h2d", 0.5}, {"forward", 10},
                           {"backward", 20}, {"loss", 1},  {"step", 2.5}};

}  // namespace harness::article_records
