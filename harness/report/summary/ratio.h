// Figures of rows with what their runs say about the chance in them: ratios of two rows, shares of one row's
// step.
#pragma once
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"
#include "harness/stats/effect.h"

namespace harness {

// A ratio of two positive figures, base / row: above 1 the row is faster (or has less of it). Or a share.
struct Ratio {
  double value = 0, low = 0, high = 0;
  size_t runs = 0;  // the smaller number of repeats behind the two figures; 0: there is no figure

  bool known() const { return runs > 0; }
  bool decides() const { return runs >= kFewestRuns; }
  bool above(double limit) const { return decides() && low > limit; }  // surely
  bool below(double limit) const { return decides() && high < limit; }
};

// Of two rows' runs: unpaired_effect() of stats/effect.h, the same that `compare` judges by. From fewer than
// kFewestRuns on either side `low` and `high` are the range over all pairs of runs, and nothing is decided.
Ratio ratio_of(const std::vector<double>& base, const std::vector<double>& row);
// Of one row's runs, a figure each: location_of() of stats/effect.h.
Ratio share_of(const std::vector<double>& shares);

// Of the rows' totals. Both must be OK.
Ratio total_ratio(const SummaryRow& base, const SummaryRow& row);
// Of the mean ms per batch in some phases. Without phase times the value is 0 and neither above nor below.
Ratio phase_ratio(const SummaryRow& base, const SummaryRow& row, const std::vector<std::string>& phases);

// Mean ms per batch that a run spent in some phases.
double phases_ms(const RunStatistics& run, const std::vector<std::string>& phases);

// `1.97 (1.90 to 2.04)`, and `1.97` of single runs.
std::string text_of(const Ratio& ratio);

}  // namespace harness
