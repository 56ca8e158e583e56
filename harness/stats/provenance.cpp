#include "harness/stats/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "harness/stats/records.h"
#include "harness/contract/row.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr double kSteal = 0.02;  // of the CPU time

struct Facet {
  const char* what;
  const char* pointer;
  const char* absent = "unknown";
};

const std::vector<Facet>& facets() {
  static const std::vector<Facet> list = {{"machine", "/machine/fingerprint"},
                                          {"environment", "/machine/environment"},
                                          {"processor", "/machine/cpu"},
                                          {"cores", "/machine/cores"},
                                          {"memory", "/machine/memory_bytes"},
                                          {"device", "/device/name"},
                                          {"driver", "/device/driver"},
                                          {"virtual machine", "/machine/virtual_machine"},
                                          {"governor", "/machine/governor"},
                                          {"host", "/machine/host"},
                                          {"kernel", "/machine/kernel"},
                                          {"system", "/machine/os"},
                                          {"LibTorch", "/versions/libtorch"},
                                          {"libjpeg-turbo", "/versions/libjpeg_turbo"},
                                          {"MPI", "/versions/mpi"},
                                          {"CUDA", "/versions/cuda"},
                                          {"NCCL", "/versions/nccl"},
                                          {"revision", "/build/revision"},
                                          {"compiler", "/build/compiler"},
                                          {"flags", "/build/flags"},
                                          {"build type", "/build/type"},
                                          {"sanitizers", "/build/sanitize"},
                                          {"launcher", "/launcher"},
                                          {"data", "/data/fingerprint"},
                                          {"images", "/data/images"},
                                          {"set by hand", "/set", "nothing"}};
  return list;
}

std::string shown(const json& record, const char* pointer) {
  const json::json_pointer where(pointer);
  if (!record.contains(where)) return "";
  const json& value = record.at(where);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

std::string all_values(const std::vector<json>& records, const char* pointer) {
  std::set<std::string> values;
  for (const json& record : records)
    if (const std::string value = shown(record, pointer); !value.empty()) values.insert(value);
  return fmt::format("{}", fmt::join(values, " | "));
}

std::string config_text(const json& record, const std::string& field) {
  return shown(record, ("/config/" + field).c_str());
}

// Apart from the machine itself, in the order of the key.
constexpr std::array kKeyed = {"/machine/kernel", "/machine/os",      "/device/driver", "/build/libtorch",
                               "/build/revision", "/build/compiler",  "/build/flags",   "/build/type",
                               "/build/sanitize", "/data/fingerprint"};

}  // namespace

std::string machine_fingerprint(const json& record) {
  if (const std::string known = text_at(record, "/machine/fingerprint"); !known.empty()) return known;
  const double gib = number_at(record, "/machine/memory_bytes") / (1 << 30);
  std::string device = text_at(record, "/device/kind");
  if (device != "cpu") device = text_at(record, "/device/name");
  return fmt::format("{}, {:.0f} cores, {:.0f} GiB, {}{}", text_at(record, "/machine/cpu"),
                     number_at(record, "/machine/cores"), std::round(gib), device,
                     shown(record, "/machine/virtual_machine") == "true" ? ", virtual" : "");
}

std::string environment_key(const json& record) {
  std::string key = machine_fingerprint(record);
  for (const char* pointer : kKeyed) key += "; " + shown(record, pointer);
  return key;
}

std::vector<std::string> environment_parts(const std::string& key) {
  std::vector<std::string> parts;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 2) {
    end = key.find("; ", begin);
    parts.push_back(key.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

void restore_environment(json& record, const std::string& key) {
  const std::vector<std::string> parts = environment_parts(key);
  record["machine"]["fingerprint"] = parts[0];
  if (parts.size() != kKeyed.size() + 1) {  // a value holds what separates values
    record["machine"]["environment"] = key;
    return;
  }
  for (size_t i = 0; i < kKeyed.size(); ++i)
    if (!parts[i + 1].empty()) record[json::json_pointer(kKeyed[i])] = parts[i + 1];
  record["versions"]["libtorch"] = text_at(record, "/build/libtorch");  // where a whole record shows it
}

std::vector<Difference> environment_differences(const std::vector<json>& a, const std::vector<json>& b) {
  std::vector<Difference> differences;
  for (const Facet& facet : facets()) {
    const std::string there = all_values(a, facet.pointer), here = all_values(b, facet.pointer);
    if (there != here)
      differences.push_back(
          {facet.what, there.empty() ? facet.absent : there, here.empty() ? facet.absent : here});
  }
  return differences;
}

std::vector<std::string> incomparable(const json& a, const json& b) {
  std::vector<std::string> reasons;
  const auto check = [&](const std::string& what, const std::string& there, const std::string& here) {
    if (there != here)
      reasons.push_back(
          fmt::format("{}: {} and {}", what, there.empty() ? "none" : there, here.empty() ? "none" : here));
  };
  check("scale", text_at(a, "/scale/name"), text_at(b, "/scale/name"));
  check("device", text_at(a, "/device/kind"), text_at(b, "/device/kind"));
  for (const Field& field : fields())
    if (field.role == Role::sizing) check(field.name, config_text(a, field.name), config_text(b, field.name));
  check("settings, by their hash", text_at(a, "/config_hash"), text_at(b, "/config_hash"));
  check("timed batches", shown(a, "/timed_batches"), shown(b, "/timed_batches"));
  check("data set", shown(a, "/data/fingerprint"), shown(b, "/data/fingerprint"));
  // A row on another storage is another state by nature; on the same one the state must be the same.
  if (config_text(a, "storage") == config_text(b, "storage"))
    check("page cache", text_at(a, "/cache/state"), text_at(b, "/cache/state"));
  check("phase clock", config_text(a, "phase_clock"), config_text(b, "phase_clock"));
  check("sanitizers", shown(a, "/build/sanitize"), shown(b, "/build/sanitize"));
  return reasons;
}

std::vector<std::string> changed_fields(const json& a, const json& b) {
  std::vector<std::string> changed;
  for (const Field& field : fields()) {
    if (field.role != Role::identity)
      continue;
    const std::string there = config_text(a, field.name), here = config_text(b, field.name);
    if (there != here && !there.empty() && !here.empty())
      changed.push_back(fmt::format("{} {} -> {}", field.name, there, here));
  }
  return changed;
}

std::vector<std::string> doubts(const json& record) {
  std::vector<std::string> found;
  if (record.contains("trace")) found.push_back("was traced");
  if (record.contains("wrap")) found.push_back("ran under " + shown(record, "/wrap/command"));
  if (const double steal = number_at(record, "/environment/steal_share"); steal >= kSteal)
    found.push_back(fmt::format("{:.0f} % of the CPU time stolen", 100 * steal));
  if (const double periods = number_at(record, "/environment/throttled_periods"); periods > 0)
    found.push_back(fmt::format("CPU quota hit {:.0f} times", periods));
  return found;
}

}  // namespace harness
