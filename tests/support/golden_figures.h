// Golden records, and single figures of their summary.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/figures.h"
#include "tests/support/typed_records.h"

inline nlohmann::json& record_of(std::vector<nlohmann::json>& records, const std::string& row) {
  for (nlohmann::json& record : records)
    if (record["row"] == row) return record;
  throw std::out_of_range("no record of row " + row);
}

// The figure of that name, null when it was left out.
inline nlohmann::json figure_of(const harness::Summary& summary, const std::string& name) {
  for (const harness::Figure& figure : harness::figures_of(summary, "a-run", SOURCE_DIR))
    if (figure.name == name) return figure.spec;
  return nullptr;
}

// Of 60 batches: warm-up, a timeline and communication as ranks record them; times are made up.
inline std::vector<nlohmann::json> rich_records() {
  std::vector<nlohmann::json> records = golden("matrix.jsonl");
  record_of(records, "7")["warmup_ms"] = {{"forward", {{90.0, 30.0, 20.0}}},
                                          {"backward", {{9.0, 30.0, 20.0}}}};
  nlohmann::json& ddp = record_of(records, "12");
  ddp["communication"] = {
      {"all_reduced_bytes", 60e6},
      {"all_reduces", {{{"bytes", 250000}, {"type", "float32"}}, {{"bytes", 750000}, {"type", "float32"}}}},
      {"ceiling_ms", 2.5}};
  ddp["spans_ms"]["communication"] = nlohmann::json(4, nlohmann::json(60, 7.0));
  ddp["timeline"] = {
      {"batch", 59},
      {"clocks", "one host"},
      {"events",
       {{{"rank", 0}, {"track", "host"}, {"name", "forward"}, {"begin_ms", 1.0}, {"end_ms", 11.0}},
        {{"rank", 1}, {"track", "collectives"}, {"name", "all_reduce"}, {"begin_ms", 9.0}, {"end_ms", 14.5}},
        {{"rank", 1}, {"track", "host"}, {"name", "not a phase"}, {"begin_ms", 2.0}, {"end_ms", 3.0}},
        {{"rank", 1}, {"track", "host"}, {"name", "load"}, {"begin_ms", 5.0}, {"end_ms", 3.0}}}}};
  nlohmann::json& gpu = record_of(records, "disk");
  gpu["device_ms"] = {{"forward", {{8.0, 10.0}}}, {"backward", {{20.0, 20.0}}}};
  return records;
}
