// Finds remarks that qualify a record's figures: inferred or clipped settings, emulation, drift.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/comma_list.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr double fewest_effective_batches = 20;

Names inferred_fields(const Record& record) { return base::split_at_commas(record.config.inferred); }

Names without(const Names& names, const Names& others) {
  Names left;
  for (const std::string& name : names)
    if (std::ranges::find(others, name) == others.end()) left.push_back(name);
  return left;
}

}  // namespace

Names inferred_everywhere(const RecordList& records) {
  Names common = inferred_fields(*records.front());
  for (const Record* record : records) common = without(common, without(common, inferred_fields(*record)));
  return common;
}

std::vector<Flag> flags_of(const Record& record, const Names& inferred_in_all, const RunStatistics* run) {
  std::vector<Flag> flags;
  const auto add = [&](char code, std::string text) { flags.push_back({code, std::move(text)}); };
  const std::string identity = record.config.identity;
  const std::string inferred =
      fmt::format("{}", fmt::join(without(inferred_fields(record), inferred_in_all), ", "));
  if (identity == "control" || identity == "own") add('+', identity == "control" ? "control" : "own row");
  if (identity == "inferred" || identity == "weakly inferred" || !inferred.empty())
    add('~', (identity == "weakly inferred" ? "weakly inferred" : "inferred") +
                 (inferred.empty() ? "" : ": " + inferred));
  if (record.config.engine != "libtorch")
    add('P', fmt::format("engine {}, torch {}", record.config.engine, version_of(record, "pytorch")));
  if (has_external_loader(record.config))
    add('X', fmt::format("loader {}: {}{}", record.config.loader, record.config.command,
                         record.config.compare_pixels ? "" : ", pixels of its own"));
  const std::string asked = record.config.storage, used = storage_used(record);
  if (!used.empty() && used != asked) add('M', asked + " as " + used);
  for (const std::string& note : record.notes)
    add(note.find("clipped") != std::string::npos ? 'C' : 'N', note);
  // What follows from an emulated device's own times is so by construction, what follows from several of them
  // and real code is not: each claim knows which it is (claim_question.h).
  for (const std::string& setting : record.emulated)
    add('E', "emulated " + setting + (is_device_setting(setting) ? "" : ": by construction"));
  if (const int64_t bad = record.bad_images.value_or(0); bad > 0)
    add('B', fmt::format("{} bad {} replaced", bad, bad == 1 ? "image" : "images"));
  if (!has_comparable_rate(record)) add('K', kTracedRate);
  if (const auto& decoded = record.decoded; decoded && decoded->all() > 0)
    add('J', fmt::format("{:.1f} % of the images decoded on the JPEG engine",
                         100 * double(decoded->jpeg_engine) / double(decoded->all())));
  if (std::string text = disturbance_text({&record}); !text.empty()) add('T', std::move(text));
  if (const int64_t periods = record.environment.throttled_periods.value_or(0); periods > 0)
    add('T', fmt::format("CPU quota hit {} times", periods));
  if (!run) return flags;
  if (run->drifts) add('D', fmt::format("drift {:+.1f} %", 100 * run->drift_share));
  if (run->has_samples && run->batches >= 60 && run->n_eff < fewest_effective_batches)
    add('A', fmt::format("only {:.0f} effective batches", run->n_eff));
  return flags;
}

std::string flag_meaning(char code) {
  static const std::map<char, std::string> meanings = {
      {'~', "the article doesn't state the row or the named fields; they are inferred from its text"},
      {'+', "not one of the article's rows"},
      {'A', "the times of batches are so correlated that few are independent"},
      {'B', "unreadable images, each replaced by the next"},
      {'C', "clipped to what this machine has"},
      {'D', "the last third of the run differs from the first by over 2 %, more than by chance"},
      {'E',
       "emulated: a setting or a device file replaces hardware; results that follow from it alone are "
       "by construction, not findings"},
      {'J', "decoded by nvJPEG; a note of the row says how much of it on the GPU's JPEG engine"},
      {'K', "traced on a GPU: the profiler stays attached, so the row has no images/s and no ratio"},
      {'M', "the storage differs from the requested one; a note of the row names it"},
      {'N', "differs from the configuration; a note of the row says how"},
      {'P', "trained by Python's PyTorch, not by this suite's program"},
      {'R', "some repeats failed; the figures come from the others"},
      {'T',
       "other processes, other machines of the hypervisor or a quota took CPU time away from the row, "
       "or its clock changed"},
      {'X', "batches come from another program's loader, not from this suite's"},
  };
  const auto found = meanings.find(code);
  return found == meanings.end() ? "" : found->second;
}

}  // namespace harness
