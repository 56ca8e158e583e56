// What a hung rank over NCCL did last: reads the dump of LibTorch's flight recorder.
#include <fmt/format.h>

#include <map>

#include "harness/base/json_text.h"
#include "harness/launch/row_processes.h"

namespace harness {

static std::string describe(const nlohmann::json& collective) {
  return fmt::format("{} {} of {}", collective.at("profiling_name").get<std::string>(),
                     collective.at("collective_seq_id").get<int64_t>(), collective.at("input_sizes").dump());
}

// Version 2 of the dump (c10d/FlightRecorder.hpp) lists its entries in the order of their enqueuing. A rank
// without any has no `entries`.
std::string last_collectives(const std::filesystem::path& dump) try {
  if (!std::filesystem::exists(dump)) return "";
  const auto recorded = base::parse_json_file(dump);
  if (recorded.is_object() && !recorded.contains("entries")) return "\nno collective was recorded";
  std::map<int64_t, std::pair<nlohmann::json, nlohmann::json>> groups;  // last enqueued, last completed
  for (const auto& one : recorded.at("entries")) {
    auto& [enqueued, completed] = groups[one.at("pg_id").get<int64_t>()];
    enqueued = one;
    if (one.at("state") == "completed") completed = one;
  }
  std::string text;
  for (const auto& [group, last] : groups)
    text += fmt::format("\ngroup {}: last enqueued {}, {}; last completed {}", group, describe(last.first),
                        last.first.at("state").get<std::string>(),
                        last.second.is_null() ? "none" : describe(last.second));
  return text;
} catch (const nlohmann::json::exception& error) {
  return fmt::format("\n{} is not a dump of the flight recorder: {}", dump.string(), error.what());
}

}  // namespace harness
