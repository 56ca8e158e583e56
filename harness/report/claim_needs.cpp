// Conditions of the questions: proven cache state, equal settings, enough cores, separate devices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/base/plain_text.h"
#include "harness/config/row_traits.h"
#include "harness/contract/row.h"
#include "harness/report/claim_question.h"
#include "harness/report/summary/article_comparison.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr const char* kApart = "; `--device emulated` has devices apart from it";

// Cores that the ranks of the first rank's host may run on.
int64_t cores_of(const SummaryRow& row) {
  std::set<int64_t> cores;
  for (const RankPlace& place : row.record->rank_map)
    if (place.host == row.record->rank_map.front().host) cores.insert(place.cpus.begin(), place.cpus.end());
  if (!cores.empty()) return int64_t(cores.size());
  const int64_t all = row.record->machine.cores.value_or(0), asked = row.config.cpus;
  return all > 0 ? std::min(all, asked) : asked;
}

bool on_processor(const SummaryRow& row) { return row.record->device.kind == "cpu"; }

bool has_just_its_cores(const SummaryRow& row) {
  return on_processor(row) && row.config.cpus == cores_needed(row.config, true) &&
         cores_of(row) == row.config.cpus;
}

std::optional<Finding> cold(const ClaimRows& rows, const Condition& it) {
  const std::string &id = it.rows[0], &cache = rows[id].cache;
  if (cache == "cold") return std::nullopt;
  return cannot_be_tested(fmt::format("{} must read from a cold page cache, but its page cache was {}",
                                      bracketed(id), cache.empty() ? "not examined" : cache));
}

// Both rows ran on the same machine, build and images, and differ only in these fields.
std::optional<Finding> only_differ(const ClaimRows& rows, const Condition& it) {
  const std::string base = bracketed(it.rows[0]), row = bracketed(it.rows[1]);
  const SummaryRow &there = rows[it.rows[0]], &here = rows[it.rows[1]];
  std::vector<std::string> others = different_settings(there.config, here.config);
  std::erase_if(others, [&](const std::string& field) {
    return std::ranges::find(it.fields, field) != it.fields.end();
  });
  std::ranges::sort(others);
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
  add_unequal("timed batches", there.run.batches, here.run.batches);
  if (!others.empty())
    return cannot_be_tested(fmt::format("{} and {} also differ in {}", base, row, fmt::join(others, ", ")));
  const auto differs = [&](const std::string& field) {
    return field_text(there.config, field) != field_text(here.config, field);
  };
  if (std::ranges::any_of(it.fields, differs)) return std::nullopt;
  return cannot_be_tested(
      fmt::format("{} and {} ran with the same {}", base, row, fmt::join(it.fields, ", ")));
}

// Each loader thread, and on a CPU each replica's or rank's computing thread, has its own core. On emulated
// devices: the row hardly waits for its loader, or the loader reaches the rate of the emulated cores.
std::optional<Finding> own_cores(const ClaimRows& rows, const Condition& it) {
  const std::string id = bracketed(it.rows[0]);
  const SummaryRow& row = rows[it.rows[0]];
  const int64_t cores = cores_of(row), replicas = on_processor(row) ? row.config.devices : 0;
  const int64_t needed = cores_needed(row.config, on_processor(row));
  const Ratio waits = wait_share(rows, it.rows[0]);
  if (on_emulated_device(*row.record) && waits.known() && waits.value < kVisibleShare) return std::nullopt;
  if (emulates_cores(row.config)) {
    if (loader_reaches_its_cores(*row.record)) return std::nullopt;
    return cannot_be_tested(
        fmt::format("{} waits for a loader that doesn't reach the {:.0f} images/s of its emulated cores on "
                    "this machine; a larger time_scale helps",
                    id, loader_images_per_s(row.config)));
  }
  if (needed <= cores) return std::nullopt;
  const bool ranks = double(row.record->world_size) > 1;
  std::string who = replicas ? base::counted(replicas, ranks ? "rank" : "replica") + " and " : "";
  who += base::counted(row.config.loader_threads, "loader thread");
  std::string why = fmt::format("in {} {} share {}", id, who, base::counted(cores, "core"));
  if (double(row.record->machine.cores.value_or(0)) >= double(needed))
    why += fmt::format("; --set cpus={} would give each its own core", needed);
  return cannot_be_tested(why + (replicas > 1 ? kApart : ""));
}

// `cpus` was not clipped.
std::optional<Finding> cores_as_asked(const ClaimRows& rows, const Condition& it) {
  for (const Flag& flag : rows[it.rows[0]].flags)
    if (flag.code == 'C')
      return cannot_be_tested(fmt::format("{} ran with {}", bracketed(it.rows[0]), flag.text));
  return std::nullopt;
}

// The device is not the processor.
std::optional<Finding> separate_device(const ClaimRows& rows, const Condition& it) {
  if (!on_processor(rows[it.rows[0]])) return std::nullopt;
  return cannot_be_tested("the device is the processor itself: " + it.otherwise + kApart);
}

std::optional<Finding> real_device(const ClaimRows& rows, const Condition& it) {
  if (!on_emulated_device(*rows[it.rows[0]].record)) return std::nullopt;
  return cannot_be_tested(it.otherwise);
}

std::optional<Finding> sixteen_bit_instructions(const ClaimRows& rows, const Condition& it) {
  const SummaryRow& row = rows[it.rows[0]];
  if (!on_processor(row)) return std::nullopt;
  if (!row.record->machine.sixteen_bit_instructions.empty() && row.record->precision.computed_in.empty())
    return std::nullopt;
  return cannot_be_tested("the processor has no 16-bit instructions, so 16-bit types can't be faster");
}

// One of the rows waits visibly for its images.
std::optional<Finding> waits(const ClaimRows& rows, const Condition& it) {
  std::vector<std::string> shares;
  for (const std::string& id : it.rows) {
    const Ratio share = wait_share(rows, id);
    if (judge(share, {.high = kVisibleShare}).verdict != Verdict::holds) return std::nullopt;
    shares.push_back(fmt::format("{:.1f} %", 100 * share.value));
  }
  return cannot_be_tested(
      fmt::format("{} (waits: {} of the step)", it.otherwise, fmt::join(shares, " and ")));
}

}  // namespace

const std::map<std::string, Need>& needs() {
  static const std::map<std::string, Need> all = {
      {"cold", {cold}},
      {"only_differ", {only_differ, 2, true}},
      {"own_cores", {own_cores}},
      {"cores_as_asked", {cores_as_asked}},
      {"separate_device", {separate_device, 1, false, true}},
      {"real_device", {real_device, 1, false, true}},
      {"sixteen_bit_instructions", {sixteen_bit_instructions}},
      {"waits", {waits, 0, false, true}},
  };
  return all;
}

}  // namespace harness
