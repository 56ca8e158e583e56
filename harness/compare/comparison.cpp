#include "harness/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "harness/stats/disturbance.h"
#include "harness/stats/looks.h"
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

Runs successful(const Runs& runs) {
  Runs ok;
  for (const Record* run : runs)
    if (run->status == "OK") ok.push_back(run);
  return ok;
}

double measured_s(const Record& run) { return run.total_s.value_or(0); }

std::vector<double> all_seconds(const Runs& runs, const auto& seconds_of) {
  std::vector<double> values;
  for (const Record* run : runs) values.push_back(seconds_of(*run));
  return values;
}

// The totals of runs that one `ab` experiment ran side by side; empty unless all runs of A come from `ab`.
std::pair<std::vector<double>, std::vector<double>> pairs_of(const Runs& a, const Runs& b,
                                                             const auto& seconds_of) {
  std::map<std::pair<std::string, int64_t>, double> partners;
  for (const Record* run : b)
    if (run->pair) partners[{run->pair->experiment, run->pair->block}] = seconds_of(*run);
  std::pair<std::vector<double>, std::vector<double>> pairs;
  for (const Record* run : a) {
    if (!run->pair) return {};
    const auto partner = partners.find({run->pair->experiment, run->pair->block});
    if (partner == partners.end()) continue;  // the other side failed in this block
    pairs.first.push_back(seconds_of(*run));
    pairs.second.push_back(partner->second);
  }
  return pairs;
}

// Whether results decided how many pairs there are.
bool looked_at(const Runs& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const Record* run) { return run->pair && run->pair->until_verdict; });
}

Effect effect_of(const Runs& a, const Runs& b, const auto& seconds_of) {
  const auto [first, second] = pairs_of(a, b, seconds_of);
  if (!first.empty() && looked_at(a) && first.size() >= kFirstLook)
    return paired_effect(first, second, level_after(first.size()));
  if (!first.empty()) return paired_effect(first, second);
  return unpaired_effect(all_seconds(a, seconds_of), all_seconds(b, seconds_of));
}

// Mean ms of a batch in each phase, one value per run.
std::map<std::string, std::vector<double>> phase_means(const Runs& runs) {
  std::map<std::string, std::vector<double>> means;
  for (const Record* run : runs)
    for (const PhaseStatistics& phase : phase_statistics(*run)) means[phase.name].push_back(phase.mean_ms);
  return means;
}

std::vector<PhaseChange> phase_changes(const Runs& a, const Runs& b) {
  const auto means_a = phase_means(a), means_b = phase_means(b);
  const auto typical = [](const auto& means, const std::string& phase) {
    const auto found = means.find(phase);
    return found == means.end() ? 0 : median(found->second);
  };
  std::vector<PhaseChange> changes;
  double step = 0;
  for (const std::string& phase : phase_names()) {
    const double before = typical(means_a, phase);
    step += before;
    changes.push_back({phase, typical(means_b, phase) - before, 0});
  }
  if (step <= 0) return {};
  for (PhaseChange& change : changes) change.share = change.ms / step;
  std::erase_if(changes, [](const PhaseChange& change) { return std::abs(change.share) < kSmallestPhase; });
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.ms) > std::abs(y.ms); });
  return changes;
}

bool not_of_one_machine(const Records& a, const Records& b) {
  std::set<std::string> machines;
  for (const auto* side : {&a, &b})
    for (const Record& record : *side) machines.insert(machine_fingerprint(record));
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
  row.changed = changed_fields(*all_a.front(), *all_b.front());
  if (!row.refused.empty()) return row;
  row.refused = incomparable(*a.front(), *b.front());
  if (!row.refused.empty()) return row;
  for (const auto& [name, runs] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    for (const Record* run : *runs)
      for (const std::string& doubt : doubts(*run))
        if (const std::string text = fmt::format("{} {}", name, doubt);
            std::find(row.doubts.begin(), row.doubts.end(), text) == row.doubts.end())
          row.doubts.push_back(text);
    if (const std::string text = disturbance_text(*runs); !text.empty())
      row.doubts.push_back(fmt::format("{}: {}", name, text));
  }
  const ComparedSeconds seconds(a, b);
  row.as_measured = effect_of(a, b, measured_s);
  if (looked_at(a)) row.fewest_runs = kFirstLook;
  row.effect = effect_of(a, b, [&](const Record& run) { return seconds.of(run); });
  row.undisturbed = seconds.undisturbed();
  row.a_s = median(all_seconds(a, measured_s));
  row.b_s = median(all_seconds(b, measured_s));
  row.margin = noise.margin(id, std::min(row.effect.a, row.effect.b));
  row.phases = phase_changes(a, b);
  return row;
}

void judge(RowComparison& row) {
  const Effect& effect = row.effect;
  const size_t runs = std::min(effect.a, effect.b);
  const double limit = std::log(1 + row.margin);
  if (runs < row.fewest_runs) {
    row.verdict = Verdict::undecided;
    if (row.fewest_runs > kFewestRuns) {
      row.reason = fmt::format("{} pair{}; with --until a verdict needs {}: give it more time", runs,
                               runs == 1 ? "" : "s", row.fewest_runs);
      return;
    }
    row.reason = fmt::format("{} run{} per side; a verdict needs {}: use --repeat {} (for nightly, too)",
                             runs, runs == 1 ? "" : "s", kFewestRuns, kFewestRuns);
    return;
  }
  const bool large = std::abs(std::log(effect.ratio)) >= limit;
  const bool sure = (effect.low > 1 || effect.high < 1) && row.adjusted_p < kLevel;
  if (large && sure) {
    row.verdict = effect.ratio > 1 ? Verdict::faster : Verdict::slower;
    row.reason = fmt::format("beyond the margin of {:.1f} %", 100 * row.margin);
  } else if (std::log(effect.low) > -limit && std::log(effect.high) < limit) {
    row.verdict = Verdict::same;
    row.reason = fmt::format("within the margin of {:.1f} %", 100 * row.margin);
  } else {
    row.verdict = Verdict::undecided;
    row.reason = large ? "more runs are needed: --repeat 15"
                       : fmt::format("within or beyond the margin of {:.1f} %: more runs are needed",
                                     100 * row.margin);
  }
}

}  // namespace

const char* name_of(Verdict verdict) {
  constexpr const char* kNames[] = {"FASTER", "SLOWER", "SAME", "UNDECIDED", "-"};
  return kNames[size_t(verdict)];
}

bool Comparison::any(Verdict verdict) const {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const RowComparison& row) { return row.verdict == verdict; });
}

size_t Comparison::compared() const {
  return static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const RowComparison& row) { return row.refused.empty(); }));
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
  std::vector<double*> p;
  bool looked_at = false;
  for (RowComparison& row : comparison.rows)
    if (row.refused.empty() && std::min(row.effect.a, row.effect.b) >= row.fewest_runs) {
      row.adjusted_p = std::min(1.0, row.effect.p * kLevel / row.effect.level);
      p.push_back(&row.adjusted_p);
      looked_at = looked_at || row.fewest_runs > kFewestRuns;
    }
  // A row that `ab --until` has decided gets no more pairs. Holm's p of it would depend on the rows that go
  // on, so that its verdict could be lost; Bonferroni's doesn't.
  if (!looked_at) holm(p);
  for (double* one : p)
    if (looked_at) *one = std::min(1.0, *one * double(comparison.compared()));
  for (RowComparison& row : comparison.rows)
    if (row.refused.empty()) judge(row);
  return comparison;
}

}  // namespace harness
