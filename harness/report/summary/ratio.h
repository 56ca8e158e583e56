// Figures with their statistical uncertainty over runs: ratios of two rows, shares of one row's step.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"
#include "harness/stats/effect.h"

namespace harness {

// A ratio of two positive figures, base / row (above 1: the row is faster or has less of it), or a share.
struct Ratio {
  double value = 0, low = 0, high = 0;
  size_t runs = 0;           // the smaller number of repeats of the two rows; 0: there is no figure
  Mean mean = {};            // behind p_against()
  bool of_logs = false;      // `mean` is of logarithms: of ratios, not of shares
  bool undisturbed = false;  // of undisturbed_s() (stats/disturbance.h)

  bool known() const { return runs > 0; }
  bool decides() const { return runs >= kFewestRuns; }
  bool above(double limit) const { return decides() && low > limit; }  // the whole interval is
  bool below(double limit) const { return decides() && high < limit; }
  // Two-sided p that the true figure is `limit`, which must be positive for ratios.
  double p_against(double limit) const { return mean.p_against(of_logs ? std::log(limit) : limit); }
};

// The ratio of two rows' runs by unpaired_effect() of stats/effect.h, which `compare` uses too. With fewer
// than kFewestRuns on either side, `low` and `high` are the range over all pairs of runs.
Ratio ratio_of(const std::vector<double>& base, const std::vector<double>& row);
// The share over one row's runs by location_of() of stats/effect.h; `shares`: one value per run.
Ratio share_of(const std::vector<double>& shares);

// Runs of two rows, as they are compared; their places in SummaryRow::records and SummaryRow::runs.
struct ComparedRuns {
  std::vector<size_t> base, row;
};
// All runs; where either row ran fewer than kFewestRuns times, those of the rounds that both ran, if there
// are any. Rounds follow one another, and a machine's speed changes meanwhile.
ComparedRuns compared_runs(const SummaryRow& base, const SummaryRow& row);
RecordList chosen(const RecordList& records, const std::vector<size_t>& places);

// The ratio of the rows' totals, by ComparedSeconds (stats/disturbance.h). Both rows must be OK.
Ratio total_ratio(const SummaryRow& base, const SummaryRow& row);
// The ratio of the mean ms per batch in these phases. Not known() without phase times.
Ratio phase_ratio(const SummaryRow& base, const SummaryRow& row, const std::vector<std::string>& phases);

// Mean ms per batch that a run spent in these phases together.
double phases_ms(const RunStatistics& run, const std::vector<std::string>& phases);

// `1.97 (1.90 to 2.04)`; for a single run `1.97`.
std::string text_of(const Ratio& ratio);

}  // namespace harness
