// Inference from whole runs, the one engine of tables, claims, comparisons and nights: estimates with exact
// rank-based intervals.
#pragma once
#include <string>
#include <vector>

namespace harness {

// `ratio`: figure of A / figure of B, so above 1 B is faster where figures are times.
struct Effect {
  double ratio = 1, low = 1, high = 1;  // Hodges-Lehmann estimate and its interval
  double coverage = 0;                  // of the interval: 0.95, or the most that so few runs can give
  double p = 1;       // two-sided Student t on the logarithms (Welch's where unpaired): for Holm's correction
  double rank_p = 1;  // two-sided Wilcoxon signed-rank, or Mann-Whitney where unpaired; exact without ties
  size_t a = 0, b = 0;  // runs on either side
  bool paired = false;
};

// Fewer runs a side decide nothing and have a range, no interval: 6 are the fewest whose exact interval
// reaches 95 %, 5 reach 93.75 %.
inline constexpr size_t kFewestRuns = 5;

// Median of all Walsh averages of the log ratios, and the interval of Wilcoxon's signed-rank test (Hollander
// & Wolfe 1999, ch. 3). Exact whatever the distribution, as long as it is symmetric, where a bootstrap of so
// few runs is too narrow. a[i] and b[i] ran next to one another.
Effect paired_effect(const std::vector<double>& a, const std::vector<double>& b);

// Median of all log differences, and the interval of Mann and Whitney's test (ch. 4): runs without pairs.
Effect unpaired_effect(const std::vector<double>& a, const std::vector<double>& b);

// Median of all Walsh averages of one figure of each run, and the interval of Wilcoxon's signed-rank test.
// From under kFewestRuns runs `low` and `high` are the smallest and largest figure. Throws
// std::invalid_argument for no runs or a figure that isn't finite.
struct Location {
  double value = 0, low = 0, high = 0;
  size_t runs = 0;
};
Location location_of(const std::vector<double>& figures);

// Adjusted p-values in the order given (Holm 1979): the chance of any false alarm among all is kept.
std::vector<double> holm(const std::vector<double>& p);

// Two-sided p of Student's t with this many degrees of freedom. Own code: Boost.Math would be 150 MB of
// headers for these lines, which are tested against tables.
double student_p(double t, double degrees);

}  // namespace harness
