// Reads what every record carries beside its samples; what a record lacks stays out.
#include "harness/report/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;
using Records = std::vector<json>;

std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_array()) {
    std::vector<std::string> words;
    for (const json& one : value) words.push_back(text_of(one));
    return fmt::format("{}", fmt::join(words, ", "));
  }
  return value.is_null() ? "" : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string any_at(const json& record, const std::string& pointer) {
  const json::json_pointer where(pointer);
  return record.contains(where) ? text_of(record.at(where)) : "";
}

std::string distinct(const Records& records, const std::function<std::string(const json&)>& describe) {
  std::vector<std::string> seen;
  for (const json& record : records) {
    const std::string text = describe(record);
    if (!text.empty() && std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(text);
  }
  return fmt::format("{}", fmt::join(seen, " | "));
}

std::string megabytes(const json& record, const char* pointer) {
  const double bytes = number_at(record, pointer);
  return bytes > 0 ? fmt::format("{:.0f}", bytes / 1e6) : "-";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string repeat_of(const json& record) { return fmt::format("{:.0f}", number_at(record, "/repeat")); }

const json& list_at(const json& record, const char* key) {
  static const json none = json::array();
  const auto list = record.find(key);
  return list != record.end() && list->is_array() ? *list : none;
}

// One line per row: repeats mostly say the same.
void add_remarks(const Records& records, const char* key, const char* kind, Grid& grid) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const json& record : records)
    for (const json& remark : list_at(record, key))
      if (seen.emplace(text_at(record, "/row"), text_of(remark)).second)
        grid.rows.push_back({text_at(record, "/row"), kind, text_of(remark)});
}

}  // namespace

std::vector<std::pair<std::string, std::string>> environment_facts(const Records& records) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const std::string& label, const std::function<std::string(const json&)>& describe) {
    if (const std::string text = distinct(records, describe); !text.empty()) facts.emplace_back(label, text);
  };
  const auto add_at = [&](const std::string& label, const std::string& pointer) {
    add(label, [&](const json& record) { return any_at(record, pointer); });
  };
  add_at("host", "/machine/host");
  add_at("processor", "/machine/cpu");
  add_at("device", "/device/name");
  add_at("cores", "/machine/cores");
  add("memory", [](const json& record) {
    const double bytes = number_at(record, "/machine/memory_bytes");
    return bytes > 0 ? fmt::format("{:.1f} GiB", bytes / (1 << 30)) : "";
  });
  add_at("16-bit instructions", "/machine/sixteen_bit_instructions");
  add_at("virtual machine", "/machine/virtual_machine");
  add_at("governor", "/machine/governor");
  add_at("kernel", "/machine/kernel");
  add_at("system", "/machine/os");
  add_at("revision", "/build/revision");
  add("compiler", [](const json& record) {
    return fmt::format("{} {}", text_at(record, "/build/compiler"), text_at(record, "/build/flags"));
  });
  add_at("sanitizers", "/build/sanitize");
  std::set<std::string> libraries;
  for (const json& record : records)
    if (const auto versions = record.find("versions"); versions != record.end() && versions->is_object())
      for (const auto& [name, version] : versions->items()) libraries.insert(name);
  for (const std::string& name : libraries) add_at(name, "/versions/" + name);
  for (const char* field : {"kind", "images", "bytes", "classes", "seed", "fingerprint"})
    add_at(std::string("data: ") + field, std::string("/data/") + field);
  add_at("launcher", "/launcher");
  add_at("seed", "/config/seed");
  add_at("set by hand (--set)", "/set");
  std::vector<std::string> times;
  for (const json& record : records)
    if (const std::string time = text_at(record, "/started_at"); !time.empty()) times.push_back(time);
  if (!times.empty())
    facts.emplace_back("rows started", fmt::format("{} to {}", *std::min_element(times.begin(), times.end()),
                                                   *std::max_element(times.begin(), times.end())));
  return facts;
}

Grid disturbance_grid(const Records& records) {
  Grid grid;
  grid.title = "load and disturbance per row";
  grid.columns = {{"row", true}, {"repeat"},     {"status", true},      {"started", true}, {"wall s"},
                  {"load"},      {"steal %"},    {"throttled"},         {"memory MB"},     {"cache", true},
                  {"resident"},  {"bad images"}, {"16-bit type", true}, {"launcher", true}};
  for (const json& record : records) {
    const auto figure = [&](const char* pointer, int digits, double factor = 1) {
      const double value = number_at(record, pointer, -1);
      return value < 0 ? "-" : fmt::format("{:.{}f}", factor * value, digits);
    };
    grid.rows.push_back({text_at(record, "/row"), repeat_of(record), text_at(record, "/status"),
                         or_dash(text_at(record, "/started_at")), figure("/wall_s", 1),
                         figure("/environment/load_average", 1), figure("/environment/steal_share", 2, 100),
                         figure("/environment/throttled_periods", 0), megabytes(record, "/max_rss_bytes"),
                         or_dash(text_at(record, "/cache/state")), figure("/cache/resident_before", 2),
                         figure("/bad_images", 0), or_dash(text_at(record, "/precision/sixteen_bit")),
                         or_dash(text_at(record, "/launcher"))});
  }
  grid.notes = {
      "load: load average before the row; steal: processor time that the host gave to others during "
      "it; throttled: periods in which the container's limit stopped it; memory: highest sum of the "
      "processes' anonymous memory; resident: share of the data in the page cache before the row."};
  return grid;
}

Grid remarks_grid(const Records& records) {
  Grid grid;
  grid.title = "what ran otherwise than written";
  grid.columns = {{"row", true}, {"kind", true}, {"remark", true, true}};
  add_remarks(records, "emulated", "emulated", grid);
  add_remarks(records, "notes", "note", grid);
  add_remarks(records, "warnings", "warning", grid);
  for (const json& record : records) {
    if (text_at(record, "/status") != "OK")
      grid.rows.push_back({text_at(record, "/row"), text_at(record, "/status"), text_at(record, "/reason")});
    for (const json& check : list_at(record, "checks"))
      if (check.is_object() && check.value("ok", json(true)) == false)
        grid.rows.push_back({text_at(record, "/row"), "failed check",
                             text_at(check, "/name") + ": " + text_at(check, "/detail")});
  }
  return grid;
}

Grid rank_grid(const Records& records) {
  Grid grid;
  grid.title = "ranks and their places";
  grid.columns = {{"row", true}, {"rank"}, {"node"}, {"host", true}, {"device", true}, {"cores", true, true}};
  std::set<std::vector<std::string>> seen;
  for (const json& record : records)
    for (const json& rank : list_at(record, "rank_map")) {
      const std::vector<std::string> cells = {text_at(record, "/row"), any_at(rank, "/rank"),
                                              any_at(rank, "/node"),   any_at(rank, "/host"),
                                              any_at(rank, "/device"), any_at(rank, "/cpus")};
      if (seen.insert(cells).second) grid.rows.push_back(cells);
    }
  return grid;
}

}  // namespace harness
