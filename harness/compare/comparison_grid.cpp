// Formats a comparison: a table for people, a JSON object for programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/compare/comparison.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr size_t kPhasesShown = 3;

std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

// Without the interval for fewer than kFewestRuns runs.
std::string effect_text(const Effect& effect) {
  if (std::min(effect.a, effect.b) < kFewestRuns) return fmt::format("{:.3f}", effect.ratio);
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", effect.ratio, effect.low, effect.high);
}

std::string phases_text(const RowComparison& row) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(row.phases.size(), kPhasesShown); ++i)
    parts.push_back(fmt::format("{} {:+.1f}", row.phases[i].phase, 100 * row.phases[i].share));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Grid comparison_grid(const Comparison& comparison, const std::string& name_a, const std::string& name_b) {
  Grid grid;
  grid.title = "B against A";
  grid.above = {"A: " + name_a, "B: " + name_b};
  if (comparison.environment.empty()) grid.above.push_back("same machine, system, libraries, build and data");
  for (const Difference& difference : comparison.environment)
    grid.above.push_back(fmt::format("{}: {} -> {}", difference.what, difference.a, difference.b));
  if (comparison.across_machines)
    grid.above.push_back("Different machines: speed-ups of machine and software together, no verdicts.");
  grid.columns = {{"row", true},
                  {"verdict", true},
                  {"A s"},
                  {"B s"},
                  {"times as fast", true},
                  {"runs"},
                  {.header = "step, % of A's", .is_text = true, .wrap_at = 26},
                  {.header = "remarks", .is_text = true, .wrap_at = 40}};
  for (const RowComparison& row : comparison.rows) {
    std::vector<std::string> remarks = row.changed;
    if (!row.refused.empty()) {
      grid.rows.push_back(
          {row.id, "not compared", "-", "-", "-", "-", "-", fmt::format("{}", fmt::join(row.refused, "; "))});
      continue;
    }
    if (row.undisturbed)
      remarks.insert(remarks.begin(), "without the processor time that others took; as measured " +
                                          effect_text(row.as_measured));
    if (!row.reason.empty()) remarks.insert(remarks.begin(), row.reason);
    remarks.insert(remarks.end(), row.doubts.begin(), row.doubts.end());
    const double change = row.b_s / row.a_s;
    const std::string by_phase = phases_text(row);
    grid.rows.push_back({row.id, name_of(row.verdict), fmt::format("{:.2f}", row.a_s),
                         fmt::format("{:.2f}", row.b_s), effect_text(row.effect),
                         fmt::format("{}+{}", row.effect.a, row.effect.b),
                         percent(change) + (by_phase.empty() ? "" : ": " + by_phase),
                         fmt::format("{}", fmt::join(remarks, "; "))});
  }
  grid.notes = {
      "times as fast: the median of seconds of A / seconds of B over pairs of whole runs, which is not the "
      "quotient of the two medians. Pairs are the runs that `ab` ran side by side, otherwise all "
      "combinations (Hodges and Lehmann). From five runs per side on with an exact 95 % rank interval. "
      "FASTER and SLOWER: the interval excludes 1, the effect reaches the margin, and Holm's p over all rows "
      "is under 0.05; SAME: the interval lies within the margin; otherwise UNDECIDED.",
      "If others took 2 % or more of the processor time of a run and the row waits for nothing but the "
      "processor, the ratio is of seconds x (1 - their share); the remarks have the ratio as measured.",
      "step: change of the median run's time, and of the phases that changed most, in percent of A's step."};
  const auto missing = [&](const char* side, const std::vector<std::string>& rows) {
    if (!rows.empty()) grid.notes.push_back(fmt::format("only in {}: {}", side, fmt::join(rows, ", ")));
  };
  missing("A", comparison.only_in_a);
  missing("B", comparison.only_in_b);
  return grid;
}

json comparison_json(const Comparison& comparison) {
  json rows = json::array(), environment = json::array();
  for (const Difference& it : comparison.environment)
    environment.push_back({{"what", it.what}, {"a", it.a}, {"b", it.b}});
  for (const RowComparison& row : comparison.rows) {
    json phases = json::object();
    for (const PhaseChange& change : row.phases)
      phases[change.phase] = {{"ms", change.ms}, {"share", change.share}};
    json entry = {
        {"row", row.id}, {"changed", row.changed}, {"not_compared", row.refused}, {"doubts", row.doubts}};
    if (row.refused.empty())
      entry.update({{"verdict", row.verdict == RowVerdict::no_verdict ? json() : json(name_of(row.verdict))},
                    {"reason", row.reason},
                    {"a_s", row.a_s},
                    {"b_s", row.b_s},
                    {"ratio", row.effect.ratio},
                    {"ratio_low", row.effect.low},
                    {"ratio_high", row.effect.high},
                    {"undisturbed", row.undisturbed},
                    {"ratio_as_measured", row.as_measured.ratio},
                    {"ratio_as_measured_low", row.as_measured.low},
                    {"ratio_as_measured_high", row.as_measured.high},
                    {"coverage", row.effect.coverage},
                    {"paired", row.effect.paired},
                    {"runs_a", row.effect.a},
                    {"runs_b", row.effect.b},
                    {"p", row.effect.p},
                    {"rank_p", row.effect.rank_p},
                    {"holm_p", row.faster.p.value_or(1)},
                    {"margin", row.margin},
                    {"phases", phases}});
    rows.push_back(entry);
  }
  return {{"environment", environment},
          {"across_machines", comparison.across_machines},
          {"rows", rows},
          {"only_in_a", comparison.only_in_a},
          {"only_in_b", comparison.only_in_b}};
}

}  // namespace harness
