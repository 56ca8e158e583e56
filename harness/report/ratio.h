// How much faster one row is than another, with what one or several runs can say about the chance in it.
#pragma once
#include <string>

#include "harness/report/summary.h"

namespace harness {

// Ratio of two positive figures, base / row: above 1 the row is faster (or has less of it).
struct Ratio {
  double value = 0, low = 0, high = 0;
  int runs = 1;  // the smaller number of repeats behind the two figures

  bool above(double limit) const { return value > 0 && low > limit; }  // surely
  bool below(double limit) const { return value > 0 && high < limit; }
};

// What a single run of each row may differ from the next by chance: an allowance, not a measurement. Two
// medians of the same row on a machine with a run-to-run deviation of 2 % differ by less in 99 of 100 pairs.
inline constexpr double kOneRunAllowance = 0.10;
inline constexpr int kFewestRuns = 3;  // below, the allowance is used

// From kFewestRuns repeats on: the ratio of the medians with a 95 % bootstrap interval over whole runs (2,000
// resamples, fixed seed). Fewer: the ratio, widened by the allowance on either side.
Ratio ratio_of(std::vector<double> base, std::vector<double> row);

// Of the rows' totals. Both must be OK.
Ratio total_ratio(const SummaryRow& base, const SummaryRow& row);
// Of the mean ms per batch in some phases. Without phase times the value is 0 and neither above nor below.
Ratio phase_ratio(const SummaryRow& base, const SummaryRow& row, const std::vector<std::string>& phases);

// Mean ms per batch that a run spent in some phases.
double phases_ms(const RunStatistics& run, const std::vector<std::string>& phases);

// `1.97 (1.90 to 2.04)`
std::string text_of(const Ratio& ratio);

}  // namespace harness
