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
  if (test.limits.high == kNoLimit) return "above " + with_unit(test.limits.low, test.unit);
  if (test.limits.low <= 0) return "below " + with_unit(test.limits.high, test.unit);
  return fmt::format("from {} to {}", number(test.limits.low, test.unit),
                     with_unit(test.limits.high, test.unit));
}

ClaimVerdict in_words(Verdict verdict) {
  constexpr ClaimVerdict kWords[] = {ClaimVerdict::holds, ClaimVerdict::does_not_hold,
                                     ClaimVerdict::undecided, ClaimVerdict::cannot_be_tested};
  return kWords[size_t(verdict)];
}

}  // namespace

Finding judged(const std::vector<Test>& tests) {
  std::vector<Judgement> judgements;
  for (const Test& test : tests) judgements.push_back(judge(test.figure, test.limits));
  size_t decides = tests.size();
  for (const Verdict verdict :
       {Verdict::cannot_be_told, Verdict::does_not_hold, Verdict::undecided, Verdict::holds})
    for (size_t i = 0; i < tests.size() && decides == tests.size(); ++i)
      if (judgements[i].verdict == verdict) decides = i;
  const Test& test = tests[decides];
  const Judgement& judgement = judgements[decides];
  if (judgement.verdict == Verdict::cannot_be_told)
    return cannot_be_tested(judgement.reason.empty() ? "the records have no times for: " + test.what
                                                     : judgement.reason);
  Finding finding{in_words(judgement.verdict), figure_text(test),
                  fmt::format("{}; holds {}{}{}", test.what, limits_text(test),
                              judgement.reason.empty() ? "" : "; ", judgement.reason),
                  judgement};
  if (judgement.verdict == Verdict::holds)  // all passed, so the least sure counts
    for (const Judgement& one : judgements)
      if (one.p) finding.test.p = std::max(finding.test.p.value_or(0), *one.p);
  return finding;
}

}  // namespace harness
