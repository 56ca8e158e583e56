// Exact signed-rank and Mann-Whitney intervals by counting all cases, Student's p, and Holm's correction.
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

double two_sided(const Counts& counts, double statistic) {
  const double mirrored = std::min(statistic, static_cast<double>(counts.size() - 1) - statistic);
  return std::min(1.0, 2 * lower_tail(counts, static_cast<size_t>(std::max(0.0, std::floor(mirrored)))));
}

// `statistic`: that of the rank test whose distribution `counts` is; `log_ratio`: for Student's.
void set_effect(std::vector<double>& estimates, const Counts& counts, double statistic, const Mean& log_ratio,
                Effect& effect) {
  std::ranges::sort(estimates);
  const size_t k = left_out_on_either_side(estimates, counts, effect.level);
  effect.coverage = std::min(1 - effect.level, 1 - 2 * lower_tail(counts, k));
  effect.ratio = std::exp(median(estimates));
  effect.low = std::exp(estimates[k]);
  effect.high = std::exp(estimates[estimates.size() - 1 - k]);
  effect.rank_p = two_sided(counts, statistic);
  effect.log_ratio = log_ratio;
  effect.p = log_ratio.p_against(0);
}

std::vector<double> walsh_averages(const std::vector<double>& values) {
  std::vector<double> averages;
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
  return averages;
}

}  // namespace

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) {
    if (!(value > 0) || !std::isfinite(value)) throw std::invalid_argument("expected figures above 0");
    value = std::log(value);
  }
  return values;
}

double Mean::p_against(double limit) const {
  if (degrees < 1) return 1;
  if (error <= 0) return value == limit ? 1 : 0;
  return student_p((value - limit) / error, degrees);
}

double Mean::reach() const {
  if (degrees < 1) return std::numeric_limits<double>::infinity();
  if (error <= 0) return 0;
  double low = 0, high = 1;
  while (p_against(value + high * error) > kLevel) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (p_against(value + middle * error) > kLevel ? low : high) = middle;
  }
  return high * error;
}

Effect paired_effect(const std::vector<double>& a, const std::vector<double>& b, double level) {
  if (a.size() != b.size() || a.empty())
    throw std::invalid_argument("expected the same number of runs, at least 1, on both sides");
  const std::vector<double> there = logarithms(a), here = logarithms(b);
  Runs differences;
  for (size_t i = 0; i < a.size(); ++i) differences.values.push_back(there[i] - here[i]);
  std::vector<double> walsh = walsh_averages(differences.values);
  double positive = 0;  // W+ counts the Walsh averages above zero; a zero counts half
  for (double average : walsh) positive += average > 0 ? 1 : average == 0 ? 0.5 : 0;
  Effect effect{.a = a.size(), .b = b.size(), .paired = true, .level = level};
  set_effect(walsh, signed_rank_counts(a.size()), positive, sum_of_own({{&differences, 1}}), effect);
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
  Effect effect{.a = a.size(), .b = b.size()};
  const Runs of_a{.values = there}, of_b{.values = here};
  set_effect(differences, mann_whitney_counts(a.size(), b.size()), above,
             sum_of_own({{&of_a, 1}, {&of_b, -1}}), effect);
  return effect;
}

Location location_of(const std::vector<double>& figures) {
  if (figures.empty() || !std::ranges::all_of(figures, [](double it) { return std::isfinite(it); }))
    throw std::invalid_argument("expected finite figures of at least one run");
  std::vector<double> walsh = walsh_averages(figures);
  std::ranges::sort(walsh);
  const size_t k = left_out_on_either_side(walsh, signed_rank_counts(figures.size()), kLevel);
  const Runs runs{.values = figures};
  return {median(walsh), walsh[k], walsh[walsh.size() - 1 - k], figures.size(), sum_of_own({{&runs, 1}})};
}

void holm(std::vector<double*> p) {
  std::ranges::sort(p, [](const double* one, const double* other) { return *one < *other; });
  double highest = 0;
  for (size_t i = 0; i < p.size(); ++i)
    *p[i] = highest = std::max(highest, std::min(1.0, *p[i] * double(p.size() - i)));
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

double level_after(size_t pairs) {
  double number = 1;
  for (size_t look = kFirstLook; look < pairs;
       look = static_cast<size_t>(std::ceil(kLookGrowth * static_cast<double>(look) - 1e-9)))
    ++number;
  return kLevel / (number * (number + 1));
}

bool is_look(size_t pairs) { return level_after(pairs) != level_after(pairs + 1); }

}  // namespace harness
