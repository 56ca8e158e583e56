// Records from JSON that contains only the keys that a test needs, and golden ones.
#pragma once
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/contract/record.h"

// Adds required keys that the test leaves out.
inline harness::Record typed(nlohmann::json object) {
  const nlohmann::json needed = {{"schema", 1},
                                 {"row", "a row"},
                                 {"repeat", 0},
                                 {"status", "OK"},
                                 {"config", nlohmann::json::object()},
                                 {"scale", {{"name", "rehearsal"}}},
                                 {"device", {{"kind", "cpu"}}}};
  for (const auto& [key, value] : needed.items())
    if (!object.contains(key)) object[key] = value;
  return harness::decode<harness::Record>(object);
}

// Kept until the end of the program, because summaries refer to them.
inline const harness::Records& typed(const std::vector<nlohmann::json>& objects) {
  static std::deque<harness::Records> kept;
  harness::Records& records = kept.emplace_back();
  for (const nlohmann::json& object : objects) records.push_back(typed(object));
  return records;
}

// A file of synthetic records that tests/golden/records/make_golden.py writes.
inline std::vector<nlohmann::json> golden(const std::string& name) {
  std::ifstream file(std::string(SOURCE_DIR) + "/tests/golden/records/" + name);
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(file, line);) records.push_back(nlohmann::json::parse(line));
  if (records.empty()) throw std::runtime_error("no golden records " + name);
  return records;
}
