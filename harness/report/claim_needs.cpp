// Conditions of the questions: proven cache state, equal settings, enough cores, separate devices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/contract/row.h"
#include "harness/report/claim_question.h"
#include "harness/report/summary/beside_article.h"
#include "harness/stats/core_needs.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> other_differences(const Row& base, const Row& row,
                                           const std::vector<std::string>& expected) {
  std::vector<std::string> names = different_settings(base, row);
  std::erase_if(names, [&](const std::string& name) { return contains(expected, name); });
  std::sort(names.begin(), names.end());
  return names;
}

// Cores that the ranks of the first rank's host may run on.
int64_t cores_of(const SummaryRow& row) {
  std::set<int64_t> cores;
  for (const RankPlace& place : row.record->rank_map)
    if (place.host == row.record->rank_map.front().host) cores.insert(place.cpus.begin(), place.cpus.end());
  if (!cores.empty()) return int64_t(cores.size());
  const int64_t all = row.record->machine.cores.value_or(0), asked = row.config.cpus;
  return all > 0 ? std::min(all, asked) : asked;
}

std::string counted(int64_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

bool on_processor(const SummaryRow& row) { return row.record->device.kind == "cpu"; }

bool has_just_its_cores(const SummaryRow& row) {
  return on_processor(row) && row.config.cpus == cores_needed(row.config, true) &&
         cores_of(row) == row.config.cpus;
}

}  // namespace

Need cold(const std::string& id) {
  return [id](const ClaimRows& rows) -> std::optional<Finding> {
    if (rows[id].cache == "cold") return std::nullopt;
    return cannot_be_tested(fmt::format("{} must read from a cold page cache, but its page cache was {}",
                                        bracketed(id),
                                        rows[id].cache.empty() ? "not examined" : rows[id].cache));
  };
}

Need only_differ_in(const std::string& base, const std::string& row, const std::vector<std::string>& fields) {
  return [=](const ClaimRows& rows) -> std::optional<Finding> {
    const SummaryRow &there = rows[base], &here = rows[row];
    std::vector<std::string> others = other_differences(there.config, here.config, fields);
    // More replicas need more cores; where each has its own, that is no other difference.
    if (has_just_its_cores(there) && has_just_its_cores(here)) std::erase(others, "cpus");
    const auto add_unequal = [&](const char* what, const auto& one, const auto& other) {
      if (one != other) others.push_back(what);
    };
    const RecordMachine &machine_there = there.record->machine, &machine_here = here.record->machine;
    add_unequal("machine/cpu", machine_there.cpu, machine_here.cpu);
    add_unequal("machine/cores", machine_there.cores, machine_here.cores);
    add_unequal("machine/host", machine_there.host, machine_here.host);
    add_unequal("build/revision", there.record->build.revision, here.record->build.revision);
    add_unequal("data/fingerprint", there.record->data.fingerprint, here.record->data.fingerprint);
    if (there.run.batches != here.run.batches) others.push_back("timed batches");
    if (!others.empty())
      return cannot_be_tested(fmt::format("{} and {} also differ in {}", bracketed(base), bracketed(row),
                                          fmt::join(others, ", ")));
    const auto differs = [&](const std::string& field) {
      return field_text(there.config, field) != field_text(here.config, field);
    };
    if (std::any_of(fields.begin(), fields.end(), differs)) return std::nullopt;
    return cannot_be_tested(fmt::format("{} and {} ran with the same {}", bracketed(base), bracketed(row),
                                        fmt::join(fields, ", ")));
  };
}

Need own_cores(const std::string& id) {
  return [id](const ClaimRows& rows) -> std::optional<Finding> {
    const SummaryRow& row = rows[id];
    const int64_t loaders = row.config.loader_threads, cores = cores_of(row);
    const int64_t replicas = on_processor(row) ? row.config.devices : 0;
    const int64_t needed = cores_needed(row.config, on_processor(row));
    const bool emulated = on_emulated_device(*row.record);
    const Ratio waits = rows.share(wait_shares(), id);
    if (emulated && waits.known() && waits.value < kVisibleShare) return std::nullopt;
    if (emulates_cores(row.config)) {
      if (loader_reaches_its_cores(*row.record)) return std::nullopt;
      return cannot_be_tested(
          fmt::format("{} waits for a loader that doesn't reach the {:.0f} images/s of its "
                      "emulated cores on this machine; a larger time_scale helps",
                      bracketed(id), loader_images_per_s(row.config)));
    }
    if (needed <= cores) return std::nullopt;
    const bool ranks = double(row.record->world_size) > 1;
    std::string who = replicas ? counted(replicas, ranks ? "rank" : "replica") + " and " : "";
    who += counted(loaders, "loader thread");
    std::string why = fmt::format("in {} {} share {}", bracketed(id), who, counted(cores, "core"));
    if (double(row.record->machine.cores.value_or(0)) >= double(needed))
      why += fmt::format("; --set cpus={} would give each its own core", needed);
    Finding finding = cannot_be_tested(why);
    finding.lacks_devices = replicas > 1;
    return finding;
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
    if (!on_processor(rows[id])) return std::nullopt;
    Finding finding = cannot_be_tested("the device is the processor itself: " + otherwise);
    finding.lacks_devices = true;
    return finding;
  };
}

Need sixteen_bit_instructions(const std::string& id) {
  return [id](const ClaimRows& rows) -> std::optional<Finding> {
    const SummaryRow& row = rows[id];
    if (!on_processor(row)) return std::nullopt;
    if (!row.record->machine.sixteen_bit_instructions.empty() && row.record->precision.computed_in.empty())
      return std::nullopt;
    return cannot_be_tested("the processor has no 16-bit instructions, so 16-bit types can't be faster");
  };
}

std::string sixteen_bit_of(const SummaryRow& row) {
  const std::string type = row.record->precision.sixteen_bit;
  if (type.empty() || type == "float16") return "";
  return fmt::format("; in {}, the article's type is float16", type);
}

std::string cold_caveat(const SummaryRow& row) {
  if (!row.record->machine.virtual_machine.value_or(false)) return "";
  return "; cold for this virtual machine, but its host may have the data cached";
}

}  // namespace harness
