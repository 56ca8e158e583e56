// Compares an interval and its p with limits, says what is missing, and corrects the p of a family.
#include "harness/experiment/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace harness {
namespace {

// Runs after which the interval, which becomes narrower with the root of their number, contains no limit.
size_t runs_needed(const Ratio& figure, const Limits& limits) {
  const auto scaled = [&](double value) { return figure.of_logs ? std::log(value) : value; };
  double most = 0;
  for (double limit : {limits.low, limits.high}) {
    if (limit < figure.low || limit > figure.high) continue;
    const double reach = scaled(figure.value > limit ? figure.low : figure.high) - scaled(figure.value);
    most = std::max(most, std::pow(reach / (scaled(limit) - scaled(figure.value)), 2) * double(figure.runs));
  }
  return most < kMostRunsAdvised ? size_t(std::ceil(most)) : 0;
}

Verdict verdict_of(const Ratio& figure, const Limits& limits) {
  const double beyond = 1 + limits.margin;
  if (figure.high < limits.low && figure.value <= limits.low / beyond) return Verdict::does_not_hold;
  if (figure.low > limits.high && figure.value >= limits.high * beyond) return Verdict::does_not_hold;
  const bool above = limits.low <= 0 || (figure.low > limits.low && figure.value >= limits.low * beyond);
  const bool below = figure.high < limits.high && figure.value <= limits.high / beyond;
  return above && below ? Verdict::holds : Verdict::undecided;
}

double p_of(const Ratio& figure, const Limits& limits) {
  if (figure.high < limits.low) return figure.p_against(limits.low);
  if (figure.low > limits.high) return figure.p_against(limits.high);
  return std::max(limits.low > 0 ? figure.p_against(limits.low) : 0,
                  limits.high != kNoLimit ? figure.p_against(limits.high) : 0);
}

}  // namespace

double Ratio::p_against(double limit) const {
  return std::min(1.0, mean.p_against(of_logs ? std::log(limit) : limit) * kLevel / level);
}

Ratio ratio_of(const Effect& effect) {
  return {.value = effect.ratio,
          .low = effect.low,
          .high = effect.high,
          .runs = std::min(effect.a, effect.b),
          .mean = effect.log_ratio,
          .of_logs = true,
          .level = effect.level};
}

void set_interval(Ratio& ratio, const Mean& mean) {
  ratio.mean = mean;
  const double low = mean.value - mean.reach(), high = mean.value + mean.reach();
  ratio.value = ratio.of_logs ? std::exp(mean.value) : mean.value;
  ratio.low = ratio.of_logs ? std::exp(low) : std::max(0.0, low);
  ratio.high = ratio.of_logs ? std::exp(high) : high;
}

void borrow_scatter(Ratio& ratio, const Pools& pools, const std::vector<WeightedRuns>& terms,
                    size_t fewest_own) {
  ratio.why_range = pools.why_none(terms);
  ratio.pooled = ratio.why_range.empty();
  const Mean mean = ratio.pooled ? pools.sum_of(terms) : sum_of_few(terms, fewest_own);
  ratio.own_scatter = !ratio.pooled && mean.degrees >= 1;
  if (ratio.decides()) set_interval(ratio, mean);
}

Judgement judge(const Ratio& figure, const Limits& limits) {
  if (!figure.known()) return {.reason = figure.why_range};
  if (!figure.decides())
    return {.verdict = Verdict::undecided,
            .runs_missing = figure.fewest_runs - figure.runs,
            .runs_needed = figure.fewest_runs,
            .reason =
                fmt::format("{} run{} of {}{}{}", figure.runs, figure.runs == 1 ? "" : "s",
                            figure.fewest_runs, figure.why_range.empty() ? "" : ", and ", figure.why_range)};
  Judgement judgement{.verdict = verdict_of(figure, limits)};
  if (figure.mean.degrees >= 1) judgement.p = p_of(figure, limits);
  if (judgement.decided() && judgement.p.value_or(0) >= kLevel)
    return {Verdict::undecided, judgement.p, 0, 0, fmt::format("Student's p is {:.2f}", *judgement.p)};
  if (judgement.decided()) return judgement;
  judgement.runs_needed = runs_needed(figure, limits);
  judgement.reason = judgement.runs_needed > 0
                         ? fmt::format("about {} runs each would decide it", judgement.runs_needed)
                         : "too near to a limit for more runs to decide it";
  return judgement;
}

void correct(const std::vector<Judgement*>& family, std::optional<size_t> bonferroni_of) {
  std::vector<double*> p;
  for (Judgement* judgement : family)
    if (judgement->p) p.push_back(&*judgement->p);
  if (!bonferroni_of) holm(p);
  for (double* one : p)
    if (bonferroni_of) *one = std::min(1.0, *one * double(*bonferroni_of));
  for (Judgement* judgement : family) {
    if (!judgement->decided() || judgement->p.value_or(0) < kLevel) continue;
    judgement->verdict = Verdict::undecided;
    judgement->reason =
        fmt::format("p is {:.2f} after {} correction for {} tests", *judgement->p,
                    bonferroni_of ? "Bonferroni's" : "Holm's", bonferroni_of.value_or(p.size()));
  }
}

}  // namespace harness
