// The figures behind the verdicts, and the comparison of an interval with limits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/report/claim_question.h"
#include "harness/report/summary/device_time.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

std::vector<double> steps_ms(const SummaryRow& row) {
  std::vector<double> values;
  for (const RunStatistics& run : row.runs) {
    double sum = 0;
    for (const PhaseStatistics& phase : run.phases) sum += phase.mean_ms;
    values.push_back(sum);
  }
  return values;
}

// `ms` as shares of each run's mean step, `least` or more.
PerRun shares_of_steps(const PerRun& ms, double least = 0) {
  return [ms, least](const SummaryRow& row) -> std::vector<double> {
    std::vector<double> values = ms(row);
    const std::vector<double> steps = steps_ms(row);
    if (values.size() != steps.size()) return {};
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] <= 0) return {};
      values[i] = std::max(values[i] / steps[i], least);
    }
    return values;
  };
}

std::string number(double value, Unit unit) {
  if (unit == Unit::times) return fmt::format("{:.2f}", value);
  return fmt::format("{:.{}f}", 100 * value, 100 * value < 2 ? 1 : 0);
}

std::string figure_text(const Test& test) {
  const std::string value = number(test.figure.value, test.unit) + (test.unit == Unit::percent ? " %" : "");
  if (test.figure.runs == 1 && !test.figure.pooled) return value;
  return fmt::format("{} ({} to {}){}", value, number(test.figure.low, test.unit),
                     number(test.figure.high, test.unit), test.figure.pooled ? " pooled" : "");
}

std::string limits_text(const Test& test) {
  const char* unit = test.unit == Unit::percent ? " %" : "";
  if (test.high == kNoLimit) return fmt::format("above {}{}", number(test.low, test.unit), unit);
  if (test.low <= 0) return fmt::format("below {}{}", number(test.high, test.unit), unit);
  return fmt::format("from {} to {}{}", number(test.low, test.unit), number(test.high, test.unit), unit);
}

ClaimVerdict verdict_of(const Test& test) {
  if (!test.figure.known()) return ClaimVerdict::cannot_be_tested;
  if (!test.figure.decides()) return ClaimVerdict::undecided;
  if (test.figure.high < test.low || test.figure.low > test.high) return ClaimVerdict::does_not_hold;
  const bool above = test.low <= 0 || test.figure.low > test.low;
  return above && test.figure.high < test.high ? ClaimVerdict::holds : ClaimVerdict::undecided;
}

// p that the true figure lies on the other side of a limit than the interval does; 1 if the interval contains
// a limit. Nullopt for a figure that chance has no part in, or of too few runs.
std::optional<double> p_of(const Test& test) {
  const Ratio& figure = test.figure;
  if (!figure.decides() || figure.mean.degrees < 1) return std::nullopt;
  if (figure.high < test.low) return figure.p_against(test.low);
  if (figure.low > test.high) return figure.p_against(test.high);
  if (verdict_of(test) != ClaimVerdict::holds) return 1;
  double p = 0;
  if (test.low > 0) p = figure.p_against(test.low);
  if (test.high != kNoLimit) p = std::max(p, figure.p_against(test.high));
  return p;
}

// Of several tests, all must pass for `holds`, and one that fails decides.
std::optional<double> p_of(const std::vector<Test>& tests, const Test& decides) {
  if (verdict_of(decides) != ClaimVerdict::holds) return p_of(decides);
  std::optional<double> largest;
  for (const Test& test : tests)
    if (const auto p = p_of(test)) largest = std::max(largest.value_or(0), *p);
  return largest;
}

}  // namespace

Finding judged(const std::vector<Test>& tests) {
  const Test* decides = nullptr;
  for (const ClaimVerdict verdict : {ClaimVerdict::cannot_be_tested, ClaimVerdict::does_not_hold,
                                     ClaimVerdict::undecided, ClaimVerdict::holds})
    for (const Test& test : tests)
      if (!decides && verdict_of(test) == verdict) decides = &test;
  if (verdict_of(*decides) == ClaimVerdict::cannot_be_tested)
    return cannot_be_tested("the records have no times for: " + decides->what);
  std::string reason = fmt::format("{}; holds {}", decides->what, limits_text(*decides));
  if (!decides->figure.decides())
    reason += fmt::format("; {} run{} of {}{}{}", decides->figure.runs, decides->figure.runs == 1 ? "" : "s",
                          kFewestRuns, decides->figure.why_range.empty() ? "" : ", and ",
                          decides->figure.why_range);
  Finding finding{verdict_of(*decides), figure_text(*decides), reason};
  finding.p = p_of(tests, *decides);
  return finding;
}

PerRun work_ms(const Phases& phases) {
  return [phases](const SummaryRow& row) {
    if (row.record->device.kind == "cpu") return ms_in(phases)(row);
    std::vector<double> values;
    for (const Record* record : row.records)
      if (const auto ms = device_ms(*record, phases)) values.push_back(*ms);
    return values.size() == row.records.size() ? values : std::vector<double>();
  };
}

PerRun work_shares(const Phases& phases) { return shares_of_steps(work_ms(phases)); }
PerRun wait_shares() { return shares_of_steps(ms_in({"load"}), kLeastShare); }

const Phases& compute_phases() {
  static const Phases phases = {"forward", "backward"};
  return phases;
}

}  // namespace harness
