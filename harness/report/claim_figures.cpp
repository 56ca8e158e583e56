// Compares the intervals of figures with limits.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/claim_question.h"
#include "harness/report/metrics.h"

namespace harness {
namespace {

std::string number(double value, const std::string& unit) {
  if (unit.empty()) return fmt::format("{:.2f}", value);
  return unit == "%" ? fmt::format("{:.{}f}", 100 * value, 100 * value < 2 ? 1 : 0) : four_digits(value);
}

std::string with_unit(double value, const std::string& unit) {
  return number(value, unit) + (unit.empty() ? "" : " ") + unit;
}

std::string figure_text(const Test& test) {
  const std::string value = with_unit(test.figure.value, test.unit);
  if (test.figure.runs == 1 && !test.figure.pooled) return value;
  return fmt::format("{} ({} to {}){}", value, number(test.figure.low, test.unit),
                     number(test.figure.high, test.unit), test.figure.pooled ? " pooled" : "");
}

std::string limits_text(const Test& test) {
  if (test.high == kNoLimit) return "above " + with_unit(test.low, test.unit);
  if (test.low <= 0) return "below " + with_unit(test.high, test.unit);
  return fmt::format("from {} to {}", number(test.low, test.unit), with_unit(test.high, test.unit));
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
    return cannot_be_tested(decides->figure.why_range.empty()
                                ? "the records have no times for: " + decides->what
                                : decides->figure.why_range);
  std::string reason = fmt::format("{}; holds {}", decides->what, limits_text(*decides));
  if (!decides->figure.decides())
    reason += fmt::format("; {} run{} of {}{}{}", decides->figure.runs, decides->figure.runs == 1 ? "" : "s",
                          kFewestRuns, decides->figure.why_range.empty() ? "" : ", and ",
                          decides->figure.why_range);
  Finding finding{verdict_of(*decides), figure_text(*decides), reason};
  finding.p = p_of(tests, *decides);
  return finding;
}

}  // namespace harness
