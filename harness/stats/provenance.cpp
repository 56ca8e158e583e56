// Compares the records fact by fact, and packs the machine and environment into one key.
#include "harness/stats/provenance.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "harness/contract/config_hash.h"
#include "harness/contract/precision_traits.h"
#include "harness/contract/row.h"

namespace harness {

namespace {

struct Facet {
  const char* what;
  std::string (*value)(const Record&);
  const char* absent = "unknown";
};

std::string shown(const std::optional<int64_t>& number) { return number ? std::to_string(*number) : ""; }
std::string shown(const std::optional<bool>& flag) { return !flag ? "" : *flag ? "true" : "false"; }

constexpr std::array kFacets = {
    Facet{"machine", [](const Record& r) { return r.machine.fingerprint; }},
    Facet{"environment", [](const Record& r) { return r.machine.environment; }},
    Facet{"processor", [](const Record& r) { return r.machine.cpu; }},
    Facet{"cores", [](const Record& r) { return shown(r.machine.cores); }},
    Facet{"core quota",
          [](const Record& r) {
            return r.machine.quota_cores ? fmt::format("{:g}", *r.machine.quota_cores) : "";
          },
          "none"},
    Facet{"memory", [](const Record& r) { return shown(r.machine.memory_bytes); }},
    Facet{"device", [](const Record& r) { return r.device.name; }},
    Facet{"driver", [](const Record& r) { return r.device.driver; }},
    Facet{"virtual machine", [](const Record& r) { return shown(r.machine.virtual_machine); }},
    Facet{"governor", [](const Record& r) { return r.machine.governor; }},
    Facet{"host", [](const Record& r) { return r.machine.host; }},
    Facet{"kernel", [](const Record& r) { return r.machine.kernel; }},
    Facet{"system", [](const Record& r) { return r.machine.os; }},
    Facet{"LibTorch", [](const Record& r) { return version_of(r, "libtorch"); }},
    Facet{"PyTorch in Python", [](const Record& r) { return version_of(r, "pytorch"); }, "none"},
    Facet{"libjpeg-turbo", [](const Record& r) { return version_of(r, "libjpeg_turbo"); }},
    Facet{"MPI", [](const Record& r) { return version_of(r, "mpi"); }},
    Facet{"CUDA", [](const Record& r) { return version_of(r, "cuda"); }},
    Facet{"NCCL", [](const Record& r) { return version_of(r, "nccl"); }},
    Facet{"revision", [](const Record& r) { return r.build.revision; }},
    Facet{"compiler", [](const Record& r) { return r.build.compiler; }},
    Facet{"flags", [](const Record& r) { return r.build.flags; }},
    Facet{"build type", [](const Record& r) { return r.build.type; }},
    Facet{"sanitizers", [](const Record& r) { return r.build.sanitize; }},
    Facet{"launcher", [](const Record& r) { return r.launcher; }},
    Facet{"data", [](const Record& r) { return r.data.fingerprint; }},
    Facet{"images", [](const Record& r) { return shown(r.data.images); }},
    Facet{"set by hand", [](const Record& r) { return r.set; }, "nothing"}};

std::string all_values(const Records& records, const Facet& facet) {
  std::set<std::string> values;
  for (const Record& record : records)
    if (const std::string value = facet.value(record); !value.empty()) values.insert(value);
  return fmt::format("{}", fmt::join(values, " | "));
}

// The parts of an environment's key after the machine, in their order.
template <class AnyRecord>
auto keyed(AnyRecord& record) {
  return std::array{&record.machine.kernel,  &record.machine.os,     &record.device.driver,
                    &record.build.libtorch,  &record.build.revision, &record.build.compiler,
                    &record.build.flags,     &record.build.type,     &record.build.sanitize,
                    &record.data.fingerprint};
}

}  // namespace

std::string machine_fingerprint(const Record& record) {
  const RecordMachine& machine = record.machine;
  if (!machine.fingerprint.empty()) return machine.fingerprint;
  const double gib = double(machine.memory_bytes.value_or(0)) / (1 << 30);
  return fmt::format("{}, {} cores, {:.0f} GiB, {}{}", machine.cpu, machine.cores.value_or(0),
                     std::round(gib), record.device.kind == "cpu" ? "cpu" : record.device.name,
                     machine.virtual_machine.value_or(false) ? ", virtual" : "");
}

const Record& record_of_machine(const Records& records) {
  const auto ok = std::ranges::find_if(records, is_ok);
  return ok == records.end() ? records.front() : *ok;
}

std::string environment_key(const Record& record) {
  std::string key = machine_fingerprint(record);
  for (const std::string* fact : keyed(record)) key += "; " + *fact;
  return key;
}

bool same_environment(const Record& a, const Record& b) {
  if (machine_fingerprint(a) != machine_fingerprint(b)) return false;
  const auto of_a = keyed(a), of_b = keyed(b);
  const bool unknown_driver =
      a.config.engine != b.config.engine && (a.device.driver.empty() || b.device.driver.empty());
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (!(unknown_driver && of_a[i] == &a.device.driver) && *of_a[i] != *of_b[i]) return false;
  }
  return true;
}

std::vector<std::string> environment_parts(const std::string& key) {
  std::vector<std::string> parts;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 2) {
    end = key.find("; ", begin);
    parts.push_back(key.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

void restore_environment(Record& record, const std::string& key) {
  const std::vector<std::string> parts = environment_parts(key);
  record.machine.fingerprint = parts[0];
  const auto facts = keyed(record);
  if (parts.size() != facts.size() + 1) {  // a value contains the separator
    record.machine.environment = key;
    return;
  }
  for (size_t i = 0; i < facts.size(); ++i) *facts[i] = parts[i + 1];
  record.versions["libtorch"] = record.build.libtorch;  // as in a complete record
}

std::vector<Difference> environment_differences(const Records& a, const Records& b) {
  std::vector<Difference> differences;
  for (const Facet& facet : kFacets) {
    const std::string there = all_values(a, facet), here = all_values(b, facet);
    if (there != here)
      differences.push_back(
          {facet.what, there.empty() ? facet.absent : there, here.empty() ? facet.absent : here});
  }
  return differences;
}

std::vector<std::string> incomparable(const Record& a, const Record& b) {
  std::vector<std::string> reasons;
  const auto check = [&](const std::string& what, const std::string& there, const std::string& here) {
    if (there != here)
      reasons.push_back(
          fmt::format("{}: {} and {}", what, there.empty() ? "none" : there, here.empty() ? "none" : here));
  };
  check("scale", a.scale.name, b.scale.name);
  check("device", a.device.kind, b.device.kind);
  for (const Field& field : fields())
    if (field.role == Role::sizing)
      check(field.name, field_text(a.config, field), field_text(b.config, field));
  check("settings, by their hash", a.config_hash, b.config_hash);
  check("device file, by its hash", emulation_hash(a.emulation), emulation_hash(b.emulation));
  check("timed batches", shown(a.timed_batches), shown(b.timed_batches));
  check("data set", a.data.fingerprint, b.data.fingerprint);
  // The cache state depends on the storage, so it must be equal only for equal storages.
  if (a.config.storage == b.config.storage) check("page cache", cache_state(a), cache_state(b));
  check("phase clock", field_text(a.config, "phase_clock"), field_text(b.config, "phase_clock"));
  check("sanitizers", a.build.sanitize, b.build.sanitize);
  if (!has_comparable_rate(a) || !has_comparable_rate(b)) reasons.push_back(kTracedRate);
  return reasons;
}

std::vector<std::string> changed_fields(const Record& a, const Record& b) {
  std::vector<std::string> changed;
  for (const Field& field : fields()) {
    if (field.role != Role::identity) continue;
    const std::string there = field_text(a.config, field), here = field_text(b.config, field);
    if (there != here) changed.push_back(fmt::format("{} {} -> {}", field.name, there, here));
  }
  return changed;
}

std::vector<std::string> different_settings(const Row& a, const Row& b) {
  std::vector<std::string> names;
  for (const Field& field : fields())
    if (field.is_setting() && field_text(a, field) != field_text(b, field)) names.push_back(field.name);
  return names;
}

bool has_comparable_rate(const Record& record) { return !record.trace || record.device.kind != "cuda"; }

std::vector<std::string> doubts(const Record& record) {
  std::vector<std::string> found;
  if (record.trace) found.push_back("was traced");
  if (record.wrap) found.push_back("ran under " + record.wrap->command);
  if (const int64_t periods = record.environment.throttled_periods.value_or(0); periods > 0)
    found.push_back(fmt::format("CPU quota hit {} times", periods));
  return found;
}

std::string group_of(const Row& row, const Row* base) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> axes = {
      {"nodes", {"nodes", "link"}},
      {"devices", {"devices", "batch"}},
      {"strategy", {"strategy", "backend", "sync_bn"}},
      {"threads", {"cpus", "loader_threads"}},
      {"precision", {"precision"}},
      {"storage",
       {"storage", "order", "cache", "read_rate", "read_latency_ms", "store_rate_mbit", "store_latency_ms",
        "readahead", "interleave", "shuffle_window"}},
      {"loading", {"batch_format", "ring_depth", "handing_over", "pin_loader_threads", "pin_thread"}}};
  if (base)
    for (const auto& [axis, fields] : axes)
      for (const std::string& field : fields)
        if (field_text(row, field) != field_text(*base, field)) return axis;
  if (row.nodes > 1) return "nodes";
  const std::string& strategy = row.strategy;
  if (strategy != "single" && strategy != "data_parallel") return "strategy";
  // The article's second series, from its row [0] on, varies devices; its first varies storage.
  if (strategy == "data_parallel" || row.window == "100-399") return "devices";
  return precision_traits(row.precision).sixteen_bit() ? "precision" : "storage";
}

}  // namespace harness
