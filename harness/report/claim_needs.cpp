// What must be so before a question can be asked: proofs, equal settings, cores, devices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/contract/row.h"
#include "harness/stats/records.h"
#include "harness/report/claim_question.h"

namespace harness {
namespace {

using nlohmann::json;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> other_differences(const json& base, const json& row,
                                           const std::vector<std::string>& expected) {
  std::vector<std::string> names;
  for (const auto& [field, value] : base.items())
    if (row.contains(field) && row[field] != value && !contains(expected, field) &&
        !has_role(field, Role::descriptive) && !has_role(field, Role::measurement))
      names.push_back(field);
  return names;
}

// Cores that the ranks of the first rank's host may run on.
int64_t cores_of(const SummaryRow& row) {
  std::set<json> cores;
  const json map = row.record->value("rank_map", json::array());
  const std::string host = map.is_array() && !map.empty() ? text_at(map.front(), "/host") : "";
  for (const json& place : map)
    if (place.is_object() && text_at(place, "/host") == host)
      for (const json& core : place.value("cpus", json::array())) cores.insert(core);
  if (!cores.empty()) return int64_t(cores.size());
  const double all = number_at(*row.record, "/machine/cores"),
               asked = number_at(*row.record, "/config/cpus", all);
  return int64_t(all > 0 ? std::min(all, asked) : asked);
}

int64_t field_of(const SummaryRow& row, const char* name, int64_t otherwise) {
  return int64_t(number_at(*row.record, fmt::format("/config/{}", name).c_str(), double(otherwise)));
}

std::string counted(int64_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

bool on_processor(const SummaryRow& row) { return text_at(*row.record, "/device/kind") == "cpu"; }

}  // namespace

Need cold(const std::string& id) {
  return [id](const ClaimRows& rows) -> std::optional<Finding> {
    if (rows[id].cache == "cold") return std::nullopt;
    return cannot_be_tested(fmt::format("{} must read from a cold page cache and its was {}", bracketed(id),
                                        rows[id].cache.empty() ? "not examined" : rows[id].cache));
  };
}

Need only_differ_in(const std::string& base, const std::string& row, const std::vector<std::string>& fields) {
  return [=](const ClaimRows& rows) -> std::optional<Finding> {
    const SummaryRow &there = rows[base], &here = rows[row];
    std::vector<std::string> others = other_differences(there.config, here.config, fields);
    for (const char* where :
         {"/machine/cpu", "/machine/cores", "/machine/host", "/build/revision", "/data/fingerprint"}) {
      const json::json_pointer key(where);
      if (there.record->contains(key) && here.record->contains(key) &&
          there.record->at(key) != here.record->at(key))
        others.push_back(std::string(where).substr(1));
    }
    if (there.run.batches != here.run.batches) others.push_back("timed batches");
    if (!others.empty())
      return cannot_be_tested(fmt::format("{} and {} also differ in {}", bracketed(base), bracketed(row),
                                          fmt::join(others, ", ")));
    const auto differs = [&](const std::string& field) {
      return there.config.value(field, json()) != here.config.value(field, json());
    };
    if (std::any_of(fields.begin(), fields.end(), differs)) return std::nullopt;
    return cannot_be_tested(fmt::format("{} and {} ran with the same {}", bracketed(base), bracketed(row),
                                        fmt::join(fields, ", ")));
  };
}

Need own_cores(const std::string& id) {
  return [id](const ClaimRows& rows) -> std::optional<Finding> {
    const SummaryRow& row = rows[id];
    const int64_t loaders = field_of(row, "loader_threads", 0), cores = cores_of(row);
    const int64_t replicas = on_processor(row) ? field_of(row, "devices", 1) : 0;
    const int64_t needed = replicas * field_of(row, "intra_op_threads", 1) + loaders;
    if (needed <= cores) return std::nullopt;
    const bool ranks = number_at(*row.record, "/world_size", 1) > 1;
    std::string who = replicas ? counted(replicas, ranks ? "rank" : "replica") + " and " : "";
    who += counted(loaders, "loader thread");
    std::string why = fmt::format("in {} {} share {}", bracketed(id), who, counted(cores, "core"));
    if (number_at(*row.record, "/machine/cores") >= double(needed))
      why += fmt::format("; --set cpus={} would give each its own", needed);
    return cannot_be_tested(why);
  };
}

Need cores_as_asked(const std::string& id) {
  return [id](const ClaimRows& rows) -> std::optional<Finding> {
    for (const Flag& flag : rows[id].flags)
      if (flag.code == 'C') return cannot_be_tested(fmt::format("{} ran with {}", bracketed(id), flag.text));
    return std::nullopt;
  };
}

Need separate_device(const std::string& id, const std::string& otherwise) {
  return [=](const ClaimRows& rows) -> std::optional<Finding> {
    if (on_processor(rows[id])) return cannot_be_tested("the device is the processor itself: " + otherwise);
    return std::nullopt;
  };
}

Need sixteen_bit_instructions(const std::string& id) {
  return [id](const ClaimRows& rows) -> std::optional<Finding> {
    const SummaryRow& row = rows[id];
    if (!on_processor(row)) return std::nullopt;
    const json::json_pointer instructions("/machine/sixteen_bit_instructions");
    if (row.record->contains(instructions) && !row.record->at(instructions).empty()) return std::nullopt;
    return cannot_be_tested("the processor has no 16-bit instructions to compute faster with");
  };
}

std::string sixteen_bit_of(const SummaryRow& row) {
  const std::string type = text_at(*row.record, "/precision/sixteen_bit");
  if (type.empty() || type == "float16") return "";
  return fmt::format("; in {}, the article's is float16", type);
}

std::string cold_caveat(const SummaryRow& row) {
  const json::json_pointer virtual_machine("/machine/virtual_machine");
  if (!row.record->contains(virtual_machine) || row.record->at(virtual_machine) != true) return "";
  return "; cold for this virtual machine, whose host may still cache";
}

}  // namespace harness
