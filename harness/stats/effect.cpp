#include "harness/stats/effect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "harness/stats/inference.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

constexpr double kAlpha = 0.05;

// How often each value of a rank statistic occurs among all equally likely cases.
using Counts = std::vector<double>;

// Distribution of Wilcoxon's W+ for n pairs: each rank is in the sum or not.
Counts signed_rank_counts(size_t n) {
  Counts counts(n * (n + 1) / 2 + 1, 0.0);
  counts[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank)
    for (size_t sum = counts.size(); sum-- > rank;) counts[sum] += counts[sum - rank];
  return counts;
}

// Distribution of Mann and Whitney's U for m and n values: coefficients of the Gaussian binomial.
Counts mann_whitney_counts(size_t m, size_t n) {
  Counts counts(m * n + 1, 0.0);
  counts[0] = 1;
  for (size_t i = 1; i <= m; ++i) {
    for (size_t u = counts.size(); u-- > n + i;) counts[u] -= counts[u - n - i];
    for (size_t u = i; u < counts.size(); ++u) counts[u] += counts[u - i];
  }
  return counts;
}

// Share of the cases with a statistic of at most `value`.
double lower_tail(const Counts& counts, size_t value) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto end = counts.begin() + static_cast<std::ptrdiff_t>(std::min(value + 1, counts.size()));
  return std::accumulate(counts.begin(), end, 0.0) / all;
}

// How many of the smallest and of the largest sorted estimates lie outside the interval: the most for which
// each tail stays within level / 2; 0 when there is none.
size_t left_out_on_either_side(const std::vector<double>& estimates, const Counts& counts, double level) {
  size_t k = 0;
  while (k + 1 < estimates.size() / 2 && lower_tail(counts, k + 1) <= level / 2) ++k;
  return k;
}

void set_interval(std::vector<double>& estimates, const Counts& counts, Effect& effect) {
  std::sort(estimates.begin(), estimates.end());
  const size_t k = left_out_on_either_side(estimates, counts, effect.level);
  effect.coverage = std::min(1 - effect.level, 1 - 2 * lower_tail(counts, k));
  effect.ratio = std::exp(median(estimates));
  effect.low = std::exp(estimates[k]);
  effect.high = std::exp(estimates[estimates.size() - 1 - k]);
}

double two_sided(const Counts& counts, double statistic) {
  const double mirrored = std::min(statistic, static_cast<double>(counts.size() - 1) - statistic);
  return std::min(1.0, 2 * lower_tail(counts, static_cast<size_t>(std::max(0.0, std::floor(mirrored)))));
}

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (double value : values) {
    if (!(value > 0) || !std::isfinite(value)) throw std::invalid_argument("expected figures above 0");
    logs.push_back(std::log(value));
  }
  return logs;
}

}  // namespace

double Mean::p_against(double limit) const {
  if (degrees < 1) return 1;
  if (error <= 0) return value == limit ? 1 : 0;
  return student_p((value - limit) / error, degrees);
}

double Mean::reach() const {
  if (degrees < 1) return std::numeric_limits<double>::infinity();
  if (error <= 0) return 0;
  double low = 0, high = 1;
  while (p_against(value + high * error) > 0.05) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (p_against(value + middle * error) > 0.05 ? low : high) = middle;
  }
  return high * error;
}

Effect paired_effect(const std::vector<double>& a, const std::vector<double>& b, double level) {
  if (a.size() != b.size() || a.empty())
    throw std::invalid_argument("expected the same number of runs, at least 1, on both sides");
  const std::vector<double> there = logarithms(a), here = logarithms(b);
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(there[i] - here[i]);
  std::vector<double> walsh;
  double positive = 0;  // W+ counts the Walsh averages above zero; a zero counts half
  for (size_t i = 0; i < differences.size(); ++i)
    for (size_t j = i; j < differences.size(); ++j) {
      walsh.push_back((differences[i] + differences[j]) / 2);
      positive += walsh.back() > 0 ? 1 : walsh.back() == 0 ? 0.5 : 0;
    }
  Effect effect;
  effect.a = effect.b = a.size();
  effect.paired = true;
  effect.level = level;
  const Counts counts = signed_rank_counts(a.size());
  set_interval(walsh, counts, effect);
  effect.rank_p = two_sided(counts, positive);
  const Runs runs{.values = differences};
  effect.log_ratio = sum_of_own({{&runs, 1}});
  effect.p = effect.log_ratio.p_against(0);
  return effect;
}

Effect unpaired_effect(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) throw std::invalid_argument("expected at least one run on each side");
  const std::vector<double> there = logarithms(a), here = logarithms(b);
  std::vector<double> differences;
  double above = 0;
  for (double x : there)
    for (double y : here) {
      differences.push_back(x - y);
      above += x > y ? 1 : x == y ? 0.5 : 0;
    }
  Effect effect;
  effect.a = a.size();
  effect.b = b.size();
  const Counts counts = mann_whitney_counts(a.size(), b.size());
  set_interval(differences, counts, effect);
  effect.rank_p = two_sided(counts, above);
  const Runs of_a{.values = there}, of_b{.values = here};
  effect.log_ratio = sum_of_own({{&of_a, 1}, {&of_b, -1}});
  effect.p = effect.log_ratio.p_against(0);
  return effect;
}

Location location_of(const std::vector<double>& figures) {
  if (figures.empty()) throw std::invalid_argument("expected at least one run");
  std::vector<double> walsh;
  for (size_t i = 0; i < figures.size(); ++i) {
    if (!std::isfinite(figures[i])) throw std::invalid_argument("expected finite figures");
    for (size_t j = i; j < figures.size(); ++j) walsh.push_back((figures[i] + figures[j]) / 2);
  }
  std::sort(walsh.begin(), walsh.end());
  const size_t k = figures.size() < kFewestRuns
                       ? 0
                       : left_out_on_either_side(walsh, signed_rank_counts(figures.size()), kAlpha);
  const Runs runs{.values = figures};
  return {median(walsh), walsh[k], walsh[walsh.size() - 1 - k], figures.size(), sum_of_own({{&runs, 1}})};
}

std::vector<double> bonferroni(std::vector<double> p, size_t tests) {
  for (double& one : p) one = std::min(1.0, one * double(tests));
  return p;
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    highest = std::max(highest, std::min(1.0, p[order[k]] * static_cast<double>(p.size() - k)));
    adjusted[order[k]] = highest;
  }
  return adjusted;
}

// The regularised incomplete beta function by its continued fraction (Abramowitz & Stegun 26.5.8), evaluated
// from the front (Lentz), on the side of the mean where it converges in a few dozen terms.
static double incomplete_beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), fraction = d;
  for (double m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d), c = 1 + even / c, fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d), c = 1 + odd / c, fraction *= c * d;
    if (std::abs(c * d - 1) < 1e-14) break;
  }
  return fraction / a *
         std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) +
                  b * std::log1p(-x));
}

double f_p(double f, double degrees_above, double degrees_below) {
  const double below = degrees_below / (degrees_below + degrees_above * f);
  return std::clamp(incomplete_beta(degrees_below / 2, degrees_above / 2, below), 0.0, 1.0);
}

}  // namespace harness
