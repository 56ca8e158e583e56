// Matches rows by id, scale and device, estimates their ratios, and corrects p-values for many rows.
#include "harness/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "harness/base/exit_code.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/effect.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

using RowKey = std::tuple<std::string, std::string, std::string>;  // row, scale, device
using Runs = RecordList;

struct Side {
  std::vector<RowKey> order;
  std::map<RowKey, Runs> rows;
};

Side sorted_by_row(const Records& records) {
  Side side;
  for (const Record& record : records) {
    const RowKey key{record.row, record.scale.name, record.device.kind};
    if (side.rows[key].empty()) side.order.push_back(key);
    side.rows[key].push_back(&record);
  }
  return side;
}

Runs successful(Runs runs) {
  std::erase_if(runs, [](const Record* run) { return !is_ok(*run); });
  return runs;
}

// The totals of runs that one `ab` experiment ran side by side; empty unless all runs of A come from `ab`.
std::pair<std::vector<double>, std::vector<double>> pairs_of(const Runs& a, const Runs& b,
                                                             const ComparedSeconds& seconds) {
  std::map<std::pair<std::string, int64_t>, double> partners;
  for (const Record* run : b)
    if (run->pair) partners[{run->pair->experiment, run->pair->block}] = seconds.of(*run);
  std::pair<std::vector<double>, std::vector<double>> pairs;
  for (const Record* run : a) {
    if (!run->pair) return {};
    const auto partner = partners.find({run->pair->experiment, run->pair->block});
    if (partner == partners.end()) continue;  // the other side failed in this block
    pairs.first.push_back(seconds.of(*run));
    pairs.second.push_back(partner->second);
  }
  return pairs;
}

// Whether results decided how many pairs there are.
bool looked_at(const Runs& runs) {
  return std::ranges::any_of(runs, [](const Record* run) { return run->pair && run->pair->until_verdict; });
}

Effect effect_of(const Runs& a, const Runs& b, const ComparedSeconds& seconds) {
  const auto [first, second] = pairs_of(a, b, seconds);
  if (!first.empty() && looked_at(a) && first.size() >= kFirstLook)
    return paired_effect(first, second, level_after(first.size()));
  if (!first.empty()) return paired_effect(first, second);
  return unpaired_effect(seconds.of(a), seconds.of(b));
}

// Mean ms of a batch in each phase, median over the runs.
std::map<std::string, double> typical_phases(const Runs& runs) {
  std::map<std::string, std::vector<double>> means;
  for (const Record* run : runs)
    for (const PhaseStatistics& phase : phase_statistics(*run)) means[phase.name].push_back(phase.mean_ms);
  std::map<std::string, double> typical;
  for (const auto& [phase, ms] : means) typical[phase] = median(ms);
  return typical;
}

std::vector<PhaseChange> phase_changes(const Runs& a, const Runs& b) {
  std::map<std::string, double> before = typical_phases(a), after = typical_phases(b);
  std::vector<PhaseChange> changes;
  double step = 0;
  for (const std::string& phase : phase_names()) {
    step += before[phase];
    changes.push_back({phase, after[phase] - before[phase], 0});
  }
  if (step <= 0) return {};
  for (PhaseChange& change : changes) change.share = change.ms / step;
  std::erase_if(changes, [](const PhaseChange& change) { return std::abs(change.share) < kSmallestPhase; });
  std::ranges::stable_sort(changes,
                           [](const auto& x, const auto& y) { return std::abs(x.ms) > std::abs(y.ms); });
  return changes;
}

bool not_of_one_machine(const Records& a, const Records& b) {
  std::set<std::string> machines;
  for (const auto* side : {&a, &b})
    for (const Record& record : *side)
      if (is_ok(record)) machines.insert(machine_fingerprint(record));  // others may lack the device's name
  return machines.size() > 1;
}

RowComparison compare_row(const std::string& id, const Runs& all_a, const Runs& all_b, const Noise& noise) {
  RowComparison row;
  row.id = id;
  const Runs a = successful(all_a), b = successful(all_b);
  for (const auto& [name, ok, all] : {std::tuple{"A", &a, &all_a}, std::tuple{"B", &b, &all_b}})
    if (ok->empty())
      row.refused.push_back(fmt::format("{} has no figure: {}{}", name, all->front()->status,
                                        all->front()->reason.empty() ? "" : ": " + all->front()->reason));
    else if (ok->size() < all->size())
      row.doubts.push_back(
          fmt::format("{}: {} of {} runs failed", name, all->size() - ok->size(), all->size()));
  row.failed_in_b = !a.empty() && b.empty() && all_b.front()->status != "SKIPPED";
  row.changed = changed_fields(*all_a.front(), *all_b.front());
  if (!row.refused.empty()) return row;
  row.refused = incomparable(*a.front(), *b.front());
  if (!row.refused.empty()) return row;
  for (const auto& [name, runs] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    for (const Record* run : *runs)
      for (const std::string& doubt : doubts(*run)) add_once(row.doubts, fmt::format("{} {}", name, doubt));
    if (const std::string text = disturbance_text(*runs); !text.empty())
      row.doubts.push_back(fmt::format("{}: {}", name, text));
  }
  if (a.front()->scale.name == "smoke") row.doubts.push_back(kSmokeOnlyTests);
  const ComparedSeconds seconds(a, b), as_measured({}, {});
  row.as_measured = effect_of(a, b, as_measured);
  row.until_verdict = looked_at(a);
  row.effect = effect_of(a, b, seconds);
  row.undisturbed = seconds.undisturbed();
  row.a_s = median(as_measured.of(a));
  row.b_s = median(as_measured.of(b));
  row.margin = noise.margin(a.front()->scale.name, id, std::min(row.effect.a, row.effect.b));
  row.phases = phase_changes(a, b);
  return row;
}

Ratio figure_of(const RowComparison& row) {
  Ratio figure = ratio_of(row.effect);
  if (row.until_verdict) figure.fewest_runs = kFirstLook;
  return figure;
}

// Words the answers to two questions: is B faster by the margin, and is the difference within it?
void set_verdict(RowComparison& row) {
  const Ratio figure = figure_of(row);
  const Judgement same = judge(figure, {1 / (1 + row.margin), 1 + row.margin});
  const bool decided = row.faster.decided();
  row.verdict = decided && row.faster.verdict == Verdict::holds ? RowVerdict::faster
                : decided                                       ? RowVerdict::slower
                : same.verdict == Verdict::holds                ? RowVerdict::same
                                                                : RowVerdict::undecided;
  if (same.runs_missing > 0)
    row.reason =
        same.reason + (row.until_verdict
                           ? " per side: give it more time"
                           : fmt::format(" per side: use --repeat {} (for nightly, too)", kFewestRuns));
  else if (row.verdict != RowVerdict::undecided)
    row.reason = fmt::format("{} the margin of {:.1f} %", decided ? "beyond" : "within", 100 * row.margin);
  else if (figure.value >= 1 + row.margin || figure.value <= 1 / (1 + row.margin))
    row.reason = row.faster.reason;
  else
    row.reason = fmt::format("within or beyond the margin of {:.1f} %: {}", 100 * row.margin, same.reason);
}

}  // namespace

const char* name_of(RowVerdict verdict) {
  constexpr const char* kNames[] = {"FASTER", "SLOWER", "SAME", "UNDECIDED", "-"};
  return kNames[size_t(verdict)];
}

size_t Comparison::compared() const {
  return static_cast<size_t>(
      std::ranges::count_if(rows, [](const RowComparison& row) { return row.refused.empty(); }));
}

int Comparison::exit_code() const {
  if (std::ranges::count(rows, RowVerdict::slower, &RowComparison::verdict) > 0) return base::kRegression;
  if (compared() == 0) return base::kNothingRan;
  return std::ranges::any_of(rows, &RowComparison::failed_in_b) ? base::kRowFailed : base::kAllGood;
}

Comparison compare(const Records& a, const Records& b, const Noise& noise) {
  Comparison comparison;
  comparison.environment = environment_differences(a, b);
  comparison.across_machines = not_of_one_machine(a, b);
  const Side side_a = sorted_by_row(a), side_b = sorted_by_row(b);
  for (const RowKey& key : side_a.order) {
    const auto other = side_b.rows.find(key);
    if (other == side_b.rows.end())
      comparison.only_in_a.push_back(std::get<0>(key));
    else
      comparison.rows.push_back(compare_row(std::get<0>(key), side_a.rows.at(key), other->second, noise));
  }
  for (const RowKey& key : side_b.order)
    if (!side_a.rows.count(key)) comparison.only_in_b.push_back(std::get<0>(key));
  if (comparison.across_machines) return comparison;
  std::vector<Judgement*> family;
  bool until_verdict = false;
  for (RowComparison& row : comparison.rows)
    if (row.refused.empty()) {
      row.faster = judge(figure_of(row), {.low = 1, .margin = row.margin});
      family.push_back(&row.faster);
      until_verdict = until_verdict || row.until_verdict;
    }
  correct(family, until_verdict ? std::optional(family.size()) : std::nullopt);
  for (RowComparison& row : comparison.rows)
    if (row.refused.empty()) set_verdict(row);
  return comparison;
}

}  // namespace harness
