// Figures with their statistical uncertainty over runs: ratios of rows, shares of one row's step.
#pragma once
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/summary/summary.h"
#include "harness/stats/inference.h"

namespace harness {

// A ratio of positive figures, base / row (above 1: the row is faster or has less of it), or a share.
struct Ratio {
  double value = 0, low = 0, high = 0;
  size_t runs = 0;              // the smallest number of runs of its rows; 0: there is no figure
  Mean mean = {};               // behind p_against()
  bool of_logs = false;         // `mean` is of logarithms: of ratios, not of shares
  bool undisturbed = false;     // of undisturbed_s() (stats/disturbance.h)
  bool of_some_rounds = false;  // of the runs of both in common rounds alone
  bool pooled = false;         // its interval is by the scatter of all rows of the family (stats/inference.h)
  bool own_scatter = false;    // or, where they scatter unequally, by that of its own few runs
  std::string why_range = {};  // why `low` and `high` are no interval but the range over the runs

  bool known() const { return runs > 0; }
  bool decides() const { return pooled || own_scatter || runs >= kFewestRuns; }
  bool above(double limit) const { return decides() && low > limit; }  // the whole interval is
  bool below(double limit) const { return decides() && high < limit; }
  // Two-sided p that the true figure is `limit`, which must be positive for ratios.
  double p_against(double limit) const { return mean.p_against(of_logs ? std::log(limit) : limit); }
};

// One value for each of a row's runs; empty where the records lack it.
using PerRun = std::function<std::vector<double>(const SummaryRow&)>;

// The figure of each run; without values if one run lacks it.
PerRun each_run(const std::function<std::optional<double>(const Record&, const RunStatistics&)>& figure);

// The product of the rows' figures, each to its power: +1 and -1 for a ratio. A ratio of two rows with
// kFewestRuns or more is unpaired_effect() of stats/effect.h, which `compare` uses too; one of more rows has
// Welch's interval. With fewer runs: those of the rounds that all rows ran, if any, because a machine's speed
// changes between rounds; the interval by the scatter of all rows in `summary`, or else by its own from
// kFewestOwnRuns on, or else the range.
Ratio product_of(const Summary& summary, const PerRun& figure,
                 const std::vector<std::pair<const SummaryRow*, int>>& powers);
Ratio ratio_of(const Summary& summary, const PerRun& figure, const SummaryRow& base, const SummaryRow& row);
// Over one row's runs, by location_of() of stats/effect.h, or as above.
Ratio share_of(const Summary& summary, const PerRun& share, const SummaryRow& row);

// The rows' seconds, as ComparedSeconds (stats/disturbance.h) of `rows` takes them.
PerRun seconds_for(const std::vector<const SummaryRow*>& rows);
// The ratio of the rows' totals. Both rows must be OK.
Ratio total_ratio(const Summary& summary, const SummaryRow& base, const SummaryRow& row);
// Mean ms per batch in these phases together.
PerRun ms_in(const std::vector<std::string>& phases);
double phases_ms(const RunStatistics& run, const std::vector<std::string>& phases);

// What the mark says to a reader.
inline constexpr const char* kPooled =
    "pooled: 95 % interval by Student's t, with the scatter of the repeats of all rows of its kind (device-, "
    "rank-, loader-, processor-, storage- or link-bound), which is taken to be one and tested for it; where "
    "they scatter unequally, three runs of "
    "each row give the interval, with their own scatter.";
// `1.97 (1.90 to 2.04)`, `1.97 (±0.1 %)` where these would be three equal figures, followed by `pooled` where
// it is so; for a single run without a pool `1.97`.
std::string text_of(const Ratio& ratio);

}  // namespace harness
