// Figures with their statistical uncertainty over runs: ratios of rows, shares of one row's step.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/experiment/verdict.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/inference.h"

namespace harness {

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

// How the seconds of these rows are compared, and with it their seconds.
ComparedSeconds compared_seconds(const std::vector<const SummaryRow*>& rows);
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
