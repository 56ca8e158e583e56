// The table of what each row waits for, with its ceilings and what to try.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/bottleneck.h"
#include "harness/stats/provenance.h"

namespace harness {
namespace {

std::string rate_text(const Ceiling& ceiling) {
  const auto& [rate, range] = ceiling;
  if (!rate) return "-";
  if (!range) return fmt::format("{:.0f}", *rate);
  return fmt::format("{:.0f} ±{:.0f} %", *rate,
                     100 * std::max(range->high / *rate - 1, 1 - range->low / *rate));
}

// A ceiling whose whole interval lies below its row was disturbed: no part alone is slower than all of them.
std::string headroom_text(const Bottleneck& found) {
  if (!found.headroom) return "-";
  const Ceilings& ceilings = found.ceilings;
  const auto& range =
      (*ceilings.loader.rate < *ceilings.compute.rate ? ceilings.loader : ceilings.compute).range;
  if (range && range->low <= found.images_per_second && found.images_per_second <= range->high)
    return "about 0";
  if (*found.headroom < 0) return "ceiling < row";
  return fmt::format("{:+.0f} %{}", 100 * *found.headroom, found.needs_free_cores ? " on free cores" : "");
}

}  // namespace

Grid bottleneck_grid(const Summary& summary) {
  Grid grid;
  grid.title = "what each row waits for";
  grid.columns = {{"row", true}, {"waits for", true}, {"img/s"},    {"loader"},
                  {"compute"},   {"all-reduce"},      {"headroom"}, {"because", true, false, 44}};
  for (const SummaryRow& row : summary.rows) {
    const auto found = bottleneck_of(row);
    if (!found) continue;
    size_t agree = 0;
    for (size_t i = 0; i < row.runs.size(); ++i)
      if (const auto one = bottleneck_of(*row.records[i], row.runs[i]))
        agree += one->verdict == found->verdict;
    const std::string count = agree < row.runs.size() ? fmt::format(" ({}/{})", agree, row.runs.size()) : "";
    const bool comparable = has_comparable_rate(*row.record);
    grid.rows.push_back({row.id, found->verdict + count,
                         comparable ? fmt::format("{:.0f}", found->images_per_second) : "-",
                         rate_text(found->ceilings.loader), rate_text(found->ceilings.compute),
                         rate_text(found->ceilings.all_reduce), comparable ? headroom_text(*found) : "-",
                         found->cause.empty()    ? found->figure
                         : found->figure.empty() ? found->cause
                                                 : found->cause + ": " + found->figure});
  }
  grid.notes = {
      "loader, compute, all-reduce: images/s of the loader alone, of the step on a made-up batch alone, and "
      "of the all-reduces alone, each with half its 95 % interval over the ceiling's batches, `-` where that "
      "is wider than the figure; headroom: from the row's images/s to the lower of loader and compute, "
      "`about 0` where the interval covers the row, `on free cores` where loader and step share cores that "
      "each ceiling had alone; `ceiling < row`: disturbed, no limit of this row. `./run_matrix explain ROW` "
      "measures what each remedy gains.",
      fmt::format(
          "waits for: the ceiling that the row touches, from {:.0f} % of the lower one on, or within its "
          "interval. If it is the loader's, the loader; if it is compute, the largest part of the step; if "
          "none, the part that takes longest beyond what it takes alone. Causes of waiting are from the "
          "critical path: the rank for which the others waited. (n/m): so in n of m repeats.",
          100 * kTouches)};
  return grid;
}

}  // namespace harness
