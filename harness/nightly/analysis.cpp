// Searches the last nights of each series for changes, with the machine's noise as the smallest change.
#include "harness/nightly/analysis.h"

#include <algorithm>

#include "harness/compare/noise.h"

namespace harness {
namespace {

Margins margins_of(const Night& night, const std::filesystem::path& folder, std::ostream& warnings) {
  const Noise noise = read_noise(folder, night.machine, warnings);
  Margins margins;
  for (const NightRow& row : night.rows)
    if (row.ok() && !noise.empty())
      margins[{night.machine, row.row}] = noise.margin(row.row, row.totals_s.size());
  return margins;
}

void find_changes(std::vector<Trend*> trends, const std::filesystem::path& source_dir) {
  std::vector<Series> series;
  std::vector<size_t> skipped;
  for (const Trend* trend : trends) {
    skipped.push_back(trend->values.size() - std::min(trend->values.size(), kNightsLookedAt));
    series.push_back(
        {trend->row,
         {trend->values.begin() + static_cast<std::ptrdiff_t>(skipped.back()), trend->values.end()},
         trend->margin});
  }
  const auto found = find_change_points(series, source_dir);
  for (size_t i = 0; i < trends.size(); ++i) {
    trends[i]->changes = found[i];
    for (ChangePoint& change : trends[i]->changes) change.index += skipped[i];
  }
}

}  // namespace

Analysis analyse(const std::vector<Night>& nights, const Night& last,
                 const std::filesystem::path& noise_folder, const std::filesystem::path& source_dir,
                 std::ostream& warnings, const Metric& metric) {
  Analysis analysis;
  analysis.trends = trends_of(
      nights, metric.name == kTotalSeconds ? margins_of(last, noise_folder, warnings) : Margins(), metric);
  std::vector<Trend*> of_last;
  for (Trend& trend : analysis.trends) {
    if (!concerns(trend, last)) continue;
    of_last.push_back(&trend);
    analysis.shortened = analysis.shortened || trend.values.size() > kNightsLookedAt;
  }
  analysis.first_nights = first_nights(analysis.trends, last);
  analysis.searched = std::any_of(of_last.begin(), of_last.end(), [](const Trend* trend) {
    return !trend->canary && trend->values.size() >= kFewestNights;
  });
  if (!analysis.searched) return analysis;
  find_changes(of_last, source_dir);
  analysis.alarms = lasting_changes(analysis.trends, last, Direction::worse);
  analysis.improvements = lasting_changes(analysis.trends, last, Direction::better);
  return analysis;
}

}  // namespace harness
