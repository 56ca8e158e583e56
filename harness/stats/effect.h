// Statistics over whole runs, used by tables, claims, comparisons and nights: estimates with exact rank-based
// intervals.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "harness/experiment/policy/policy.h"

namespace harness {

// Throws std::invalid_argument unless all are finite and above 0.
std::vector<double> logarithms(std::vector<double> values);

// Mean of some figures (of ratios: of their logarithms), its standard error and degrees of freedom.
struct Mean {
  double value = 0, error = 0, degrees = 0;
  // Two-sided p of Student's t that the true mean is `limit`; 1 with less than one degree of freedom.
  double p_against(double limit) const;
  // Half the width of the mean's 95 % interval; infinite with less than one degree of freedom.
  double reach() const;
};

// `ratio`: figure of A / figure of B. For times, a ratio above 1 means that B is faster.
struct Effect {
  double ratio = 1, low = 1, high = 1;  // Hodges-Lehmann estimate and its interval
  double coverage = 0;                  // of the interval: 1 - level, or less with too few runs for it
  double p = 1;       // two-sided Student t on the logarithms (Welch's where unpaired): for Holm's correction
  double rank_p = 1;  // two-sided Wilcoxon signed-rank, or Mann-Whitney where unpaired; exact without ties
  size_t a = 0, b = 0;  // runs on either side
  bool paired = false;
  Mean log_ratio = {};    // what `p` is of; Welch's degrees of freedom where unpaired
  double level = kLevel;  // of the tests; Holm's correction is of p x kLevel / level
};

// Median of all Walsh averages of the log ratios, and the interval of Wilcoxon's signed-rank test (Hollander
// & Wolfe 1999, ch. 3). Exact for every symmetric distribution; a bootstrap of so few runs would be too
// narrow. a[i] and b[i] ran directly after one another.
// `level`: below kLevel for one of several looks at growing data, see level_after().
Effect paired_effect(const std::vector<double>& a, const std::vector<double>& b, double level = kLevel);

// For runs without pairs: median of all log differences, and the interval of Mann and Whitney's test (ch. 4).
Effect unpaired_effect(const std::vector<double>& a, const std::vector<double>& b);

// Median of all Walsh averages of a figure, one value per run, and the interval of Wilcoxon's signed-rank
// test; of fewer than six runs from the smallest to the largest value. Throws std::invalid_argument without
// runs or when a value isn't finite.
struct Location {
  double value = 0, low = 0, high = 0;
  size_t runs = 0;
  Mean mean = {};
};
Location location_of(const std::vector<double>& figures);

// Adjusts these p of one family in place (Holm 1979): the probability that any of those below kLevel is a
// false alarm is at most that.
void holm(std::vector<double*> p);

// Upper tail of the F distribution, and with it the two-sided p of Student's t. Not from a library:
// Boost.Math would be 150 MB of headers for these few lines, which are tested against tables.
double f_p(double f, double degrees_above, double degrees_below);
inline double student_p(double t, double degrees) { return f_p(t * t, 1, degrees); }

// When `ab --until` looks at its results, and how sure each look must be so that all of them together are
// wrong in at most 5 % of the experiments without a difference.
//
// Alpha spending (Lan & DeMets 1983, Biometrika 70, 659-663) with a fixed schedule: look k, after kFirstLook
// pairs and then after each 1.4 times as many, uses the level kLevel / (k (k + 1)). These levels sum to it,
// so that by the union bound it doesn't matter when one stops, whatever the dependence between looks. Each
// look is the exact signed-rank test of paired_effect(). At the end of the time, after pairs that are not a
// look's, the level of the next look is used, which then doesn't take place.
bool is_look(size_t pairs);

// Level of the test after so many pairs, at least kFirstLook.
double level_after(size_t pairs);

}  // namespace harness
