// Checks a record's status, times and samples when it is read, and prints its keys as documentation.
#include "harness/contract/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/contract/phases.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr std::array kStatuses = {"OK",      "SKIPPED", "DIVERGED", "OUT_OF_MEMORY",
                                  "TIMEOUT", "HUNG",    "CRASHED",  "INVALID"};

void require_positive(const char* key, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw Violation(key, "a positive number", value);
}

// Every phase must have the same number of ranks, and every rank all timed batches.
void check_samples(const std::string& key, const Samples& samples, int64_t batches) {
  size_t ranks = 0;
  for (const auto& [phase, by_rank] : samples) {
    const std::string at = key + "." + phase;
    if (std::ranges::find(kPhaseNames, phase) == kPhaseNames.end())
      throw Violation(at, "the name of a phase", phase);
    if (by_rank.empty()) throw Violation(at, "a list per rank", json::array());
    if (ranks == 0) ranks = by_rank.size();
    if (by_rank.size() != ranks)
      throw Violation(at, fmt::format("{} ranks, as in the other phases", ranks), by_rank.size());
    for (const std::vector<double>& times : by_rank) {
      if (int64_t(times.size()) != batches)
        throw Violation(at, fmt::format("{} batches on every rank", batches), times.size());
      for (double time : times)
        if (!(time >= 0) || !std::isfinite(time)) throw Violation(at, "a time of 0 or more", time);
    }
  }
}

}  // namespace

std::string cache_state(const Record& record) { return record.cache ? record.cache->state : ""; }
std::string storage_used(const Record& record) { return record.cache ? record.cache->storage_used : ""; }

std::string version_of(const Record& record, const std::string& library) {
  const auto found = record.versions.find(library);
  return found == record.versions.end() ? "" : found->second;
}

Record record_from_json(json object) {
  require_version(object, "schema", 1, "a record");
  if (const auto config = object.find("config"); config != object.end() && config->is_object())
    for (auto field = config->begin(); field != config->end();)
      field = find_field(field.key()) ? std::next(field) : config->erase(field);
  if (const auto strategy = object.find("strategy"); strategy != object.end() && !strategy->is_object())
    throw Violation("strategy", "an object", *strategy);  // untyped: its keys depend on the strategy
  Record record = decode<Record>(object);
  if (record.row.empty()) throw Violation("row", "the id of a row", record.row);
  if (record.repeat < 0) throw Violation("repeat", "0 or more", record.repeat);
  if (std::ranges::find(kStatuses, record.status) == kStatuses.end())
    throw Violation("status", "OK, SKIPPED or the kind of failure", record.status);
  if (record.status != "OK") return record;
  require_positive("timed_batches", double(record.timed_batches.value_or(0)));
  require_positive("total_s", record.total_s.value_or(0));
  check_samples("samples_ms", record.samples_ms, *record.timed_batches);
  check_samples("device_ms", record.device_ms, *record.timed_batches);
  return record;
}

json to_json(const Record& record) {
  json object = encode(record);
  if (is_ok(record))  // these keys are always present, even when empty
    for (const auto& [key, empty] :
         {std::pair("samples_ms", json::object()), std::pair("warmup_ms", json::object()),
          std::pair("spans_ms", json::object()), std::pair("device_ms", json::object()),
          std::pair("strategy", json::object()), std::pair("warnings", json::array())})
      object.emplace(key, empty);
  return object;
}

void drop_figures(Record& record) {
  for (const Key& key : kType<Record>.keys())
    if (key.presence == Presence::figure) key.type->resize(key.in(&record), 0);
}

namespace {

// Adds each key of a struct and of its parts: its path, such as `rank_map[].host` ([] for every element of a
// list, NAME for those of a map), and its meaning.
using Meanings = std::vector<std::pair<std::string, const char*>>;
void add_keys(const ValueType& type, const std::string& before, Meanings& keys) {
  for (const Key& key : type.keys()) {
    keys.emplace_back(before + key.name, key.help);
    const ValueType* inner = key.type->kind == Kind::optional ? key.type->element : key.type;
    const char* suffix = inner->kind == Kind::list ? "[]" : inner->kind == Kind::map ? ".NAME" : "";
    if (inner->element) inner = inner->element;
    if (inner->keys && !inner->as_list) add_keys(*inner, before + key.name + suffix + ".", keys);
  }
}

Meanings keys_of_records() {
  Meanings keys;
  add_keys(kType<Record>, "", keys);
  return keys;
}

}  // namespace

std::string record_keys_as_markdown() {
  std::string text = "| key | meaning |\n|---|---|\n";
  for (const auto& [path, help] : keys_of_records()) text += fmt::format("| `{}` | {} |\n", path, help);
  return text;
}

std::string record_keys_as_json() {
  json list = json::array();
  for (const auto& [path, help] : keys_of_records()) list.push_back({{"key", path}, {"meaning", help}});
  return list.dump(2) + "\n";
}

}  // namespace harness
