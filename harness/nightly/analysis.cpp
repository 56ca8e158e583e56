// Searches the last nights of each series for changes, with the machine's noise as the smallest change.
#include "harness/nightly/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/compare/noise.h"
#include "harness/stats/statistics.h"

namespace harness {

namespace {

// The logarithms of a row's nights before tonight, and tonight's. A figure that improves upwards is inverted,
// so that more is always worse.
struct Nights {
  Runs before, tonight;
};

Nights nights_of(const Trend& trend) {
  const double sign = trend.metric->better == Better::lower ? 1 : -1;
  Nights nights;
  for (const double value : trend.values) nights.before.values.push_back(sign * std::log(value));
  nights.tonight.values = {nights.before.values.back()};
  nights.before.values.pop_back();
  return nights;
}

// Of a row whose scatter isn't that of the others: tonight scatters as the nights before.
Mean by_own_scatter(const Nights& nights) {
  const auto& before = nights.before.values;
  const double of_nights = std::max(variance(before), kLeastScatter * kLeastScatter),
               n = double(before.size());
  return {nights.tonight.values[0] - mean(before), std::sqrt(of_nights * (1 + 1 / n)),
          before.size() < kFewestOwnRuns ? 0 : n - 1};
}

Ratio ratio_of(const Nights& nights, const Pools& pools) {
  const std::vector<WeightedRuns> terms = {{&nights.tonight, 1}, {&nights.before, -1}};
  Ratio ratio{.runs = nights.before.values.size(), .of_logs = true};
  ratio.value = ratio.low = ratio.high = std::exp(nights.tonight.values[0] - mean(nights.before.values));
  ratio.why_range = pools.why_none(terms);
  ratio.pooled = ratio.why_range.empty();
  Mean difference = by_own_scatter(nights);
  if (ratio.pooled) {  // as in pools, a row that scatters more keeps its own scatter, tonight too
    const double own_error = difference.error;
    difference = pools.sum_of(terms);
    difference.error = std::max(difference.error, own_error);
  }
  ratio.own_scatter = !ratio.pooled && difference.degrees >= 1;
  if (ratio.pooled || ratio.own_scatter) set_interval(ratio, difference);
  return ratio;
}

}  // namespace

std::vector<FirstNights> first_nights(const std::vector<Trend>& trends, const Night& last) {
  std::vector<FirstNights> rows;
  std::vector<Nights> nights;
  for (const Trend& trend : trends) {
    const size_t count = trend.values.size();
    if (trend.canary || trend.nights.back() != last.id || count >= kFewestNights) continue;
    rows.emplace_back();
    rows.back().trend = &trend;
    rows.back().before = count - 1;
    nights.push_back(nights_of(trend));
  }
  std::vector<Runs> before;
  for (const Nights& one : nights) before.push_back(one.before);
  const Pools pools(before);
  std::vector<Judgement*> family;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].before == 0) continue;
    rows[i].ratio = ratio_of(nights[i], pools);
    rows[i].judgement = judge(rows[i].ratio, {.low = 1, .margin = rows[i].trend->margin});
    family.push_back(&rows[i].judgement);
  }
  correct(family);
  std::ranges::stable_sort(
      rows, [](const auto& one, const auto& other) { return one.ratio.value > other.ratio.value; });
  return rows;
}

std::string first_nights_text(const std::vector<FirstNights>& rows) {
  if (rows.empty()) return "";
  const auto percent = [](double ratio) { return 100 * (ratio - 1); };
  const Metric& metric = *rows.front().trend->metric;
  std::string text;
  size_t longest = 0;
  for (const FirstNights& row : rows) {
    longest = std::max(longest, row.before + 1);
    const Ratio& ratio = row.ratio;
    if (ratio.pooled || ratio.own_scatter)
      text += fmt::format(
          "  {}: {:+.1f} % ({:+.1f} to {:+.1f} %) against {} nights{}\n", row.trend->row,
          percent(ratio.value), percent(ratio.low), percent(ratio.high), row.before,
          row.judgement.verdict == Verdict::holds ? ": " + change_word(metric, true) + " tonight" : "");
  }
  const std::string until =
      fmt::format("lasting changes of {} row{} are searched from {} nights on, {} more", rows.size(),
                  rows.size() == 1 ? "" : "s", kFewestNights, kFewestNights - longest);
  if (text.empty())
    return "tonight is compared with the nights before from the third night on, and " + until + "\n";
  return fmt::format("{} of tonight against the nights before, + is {}, with 95 % intervals; {}:\n{}",
                     metric.name, change_word(metric, true), until, text);
}

static void set_margins(std::vector<Trend>& trends, const Night& night, const std::filesystem::path& folder,
                        std::ostream& warnings) {
  const Noise noise = read_noise(folder, night.machine, warnings);
  if (noise.empty()) return;
  for (Trend& trend : trends)
    for (const NightRow& row : night.rows)
      if (row.ok() && trend.is_of(night.machine, row))
        trend.margin = noise.margin(row.scale, row.row, row.totals_s.size());
}

Analysis analyse(const std::vector<Night>& nights, const Night& last,
                 const std::filesystem::path& noise_folder, const std::filesystem::path& source_dir,
                 std::ostream& warnings, const Metric& metric) {
  Analysis analysis;
  analysis.trends = trends_of(nights, metric);
  if (metric.name == kTotalSeconds) set_margins(analysis.trends, last, noise_folder, warnings);
  std::vector<Trend*> of_last;
  for (Trend& trend : analysis.trends) {
    if (!concerns(trend, last)) continue;
    of_last.push_back(&trend);
    analysis.shortened = analysis.shortened || trend.first_searched() > 0;
  }
  analysis.first_nights = first_nights(analysis.trends, last);
  analysis.searched = std::ranges::any_of(
      of_last, [](const Trend* trend) { return !trend->canary && trend->values.size() >= kFewestNights; });
  if (!analysis.searched) return analysis;
  find_changes(of_last, source_dir);
  analysis.alarms = lasting_changes(analysis.trends, last, Direction::worse);
  analysis.improvements = lasting_changes(analysis.trends, last, Direction::better);
  return analysis;
}

}  // namespace harness
