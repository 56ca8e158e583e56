// Records from JSON that contains only the keys that a test needs.
#pragma once
#include <deque>
#include <nlohmann/json.hpp>
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
