// Chooses the axis range so that outliers don't hide small changes, and places labels without overlap.
#include "harness/nightly/trend_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/nightly/analysis.h"
#include "harness/report/figures/figure.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr double kLeastHeight = 0.10;  // least range of the axis / median, so that noise of 1 % looks small
constexpr double kFarOff = 0.05;       // quantile at both ends that the axis need not cover
constexpr size_t kNewest = 5;          // newest nights, which the axis always covers

// The range of the y axis. It always covers the newest nights and all levels. Other outliers would compress
// the chart, so they are drawn at the edge and marked.
std::pair<double, double> axis_of(std::vector<double> values, const TrendChart& chart) {
  const std::vector<double> newest(
      values.end() - static_cast<std::ptrdiff_t>(std::min(kNewest, values.size())), values.end());
  std::ranges::sort(values);
  const auto quantile = [&](double share) {
    return values[static_cast<size_t>(std::lround(share * double(values.size() - 1)))];
  };
  double low = quantile(kFarOff), high = quantile(1 - kFarOff);
  const auto reach = [&](double value) { low = std::min(low, value), high = std::max(high, value); };
  for (double value : newest) reach(value);
  for (const Trend* trend : chart.series)
    for (const ChangePoint& change : trend->changes) reach(change.before), reach(change.after);
  const double room = std::max((high - low) * 0.3, (quantile(0.5) * kLeastHeight - (high - low)) / 2);
  return {std::max(0.0, low - room), high + room};
}

// The nights of a series, at most one value per position: the median.
std::map<size_t, double> by_place(const Trend& trend, const NightAxis& axis) {
  std::map<size_t, std::vector<double>> values;
  for (size_t i = 0; i < trend.values.size(); ++i)
    if (axis.knows(trend.nights[i])) values[axis.of(trend.nights[i])].push_back(trend.values[i]);
  std::map<size_t, double> medians;
  for (const auto& [at, of_nights] : values) medians[at] = median(of_nights);
  return medians;
}

void add_failures(const Trend& trend, const NightAxis& axis, json& values) {
  for (const Night* night : axis.nights())
    for (const NightRow& it : night->rows)
      if (!trend.canary && it.row == trend.row && it.scale == trend.scale && it.device == trend.device &&
          it.failed())
        values.push_back({{"at", axis.of(night->id)}, {"status", it.status}});
}

// The first level is the mean of the searched nights only, so it begins with them.
void add_levels(const Trend& trend, const NightAxis& axis, json& values) {
  size_t begin = trend.first_searched();
  if (!trend.changes.empty() && trend.changes[0].index <= begin) begin = 0;
  const auto place = [&](size_t i) { return double(axis.of(trend.nights[i])); };
  for (size_t i = 0; !trend.changes.empty() && i <= trend.changes.size(); ++i) {
    const size_t from = i == 0 ? begin : trend.changes[i - 1].index;
    const size_t to = i == trend.changes.size() ? trend.nights.size() - 1 : trend.changes[i].index - 1;
    const double level = i == 0 ? trend.changes[0].before : trend.changes[i - 1].after;
    values.push_back({{"at", place(from) - 0.5}, {"to", place(to) + 0.5}, {"level", level}});
  }
}

void add_changes(const Trend& trend, const NightAxis& axis, const std::vector<Trend>& all, json& values) {
  for (const ChangePoint& change : trend.changes) {
    const std::string canary = trend.canary ? "" : canary_behind(all, trend, change);
    const bool machine = trend.canary || !canary.empty();
    values.push_back({{"at", double(axis.of(trend.nights[change.index])) - 0.5},
                      {"change", machine               ? "machine"
                                 : trend.worse(change) ? "worse"
                                                       : "better"},
                      {"label", change_in_percent(change) + (canary.empty() ? "" : " machine")}});
  }
}

}  // namespace

std::vector<TrendChart> charts_of(const std::vector<Trend>& trends, const std::string& machine, bool canaries,
                                  const std::vector<Alarm>& alarms) {
  std::set<std::pair<std::string, std::string>> scales;
  for (const Trend& trend : trends)
    if (trend.machine == machine && !trend.canary) scales.insert({trend.scale, trend.device});
  std::vector<TrendChart> charts;
  for (const Trend& trend : trends) {
    if (trend.machine != machine || trend.canary != canaries) continue;
    const std::string title = canaries || scales.size() < 2
                                  ? trend.row
                                  : fmt::format("{} ({}, {})", trend.row, trend.scale, trend.device);
    auto chart = std::ranges::find_if(charts, [&](const auto& it) { return it.title == title; });
    if (chart == charts.end()) chart = charts.insert(charts.end(), TrendChart{title, {}, false});
    chart->series.push_back(&trend);
    chart->alarm = chart->alarm || std::ranges::any_of(alarms, [&](const Alarm& it) {
                     return it.canary.empty() && it.key == trend.key();
                   });
  }
  return charts;
}

std::string change_in_percent(const ChangePoint& change) {
  return fmt::format("{:+.1f} %", 100 * change.change());
}

std::string last_change(const Trend& trend) {
  const ChangePoint& change = trend.changes.back();
  return fmt::format("{} since {}", change_in_percent(change), trend.started_at[change.index].substr(0, 10));
}

json chart_spec(const std::filesystem::path& source_dir, const TrendChart& chart, const NightAxis& axis,
                const std::string& nights, const std::vector<Trend>& all) {
  FigureData data;
  std::vector<double> drawn;
  add_failures(*chart.series[0], axis, data.values);
  for (size_t number = 0; number < chart.series.size(); ++number) {
    const Trend& trend = *chart.series[number];
    const auto points = by_place(trend, axis);
    if (points.empty()) continue;
    for (const auto& [at, value] : points) {
      drawn.push_back(value);
      data.values.push_back({{"at", at}, {"value", value}, {"series", number}});
    }
    add_levels(trend, axis, data.values);
    add_changes(trend, axis, all, data.values);
  }
  const Trend& trend = **std::ranges::max_element(
      chart.series, {}, [&](const Trend* one) { return axis.of(one->nights.back()); });
  std::string state = trend.text(trend.values.back());
  if (!trend.changes.empty()) state += "; " + last_change(trend);
  const auto [low, high] = axis_of(drawn, chart);
  data.params = {{"title", chart.title + (chart.alarm ? ": " + alarm_word(*trend.metric) : "")},
                 {"state", state},
                 {"unit", trend.canary ? "ms" : trend.metric->unit},
                 {"nights", nights},
                 {"places", axis.size()},
                 {"older", axis.older()},
                 {"lowest", low},
                 {"highest", high}};
  return filled_figure(source_dir, "trend", std::move(data));
}

NightAxis::NightAxis(std::vector<const Night*> nights) : nights_(std::move(nights)) {
  const size_t thinned = nights_.size() > kNightsInFull + kOlderPlaces ? nights_.size() - kNightsInFull : 0;
  if (thinned) share_ = (thinned + kOlderPlaces - 1) / kOlderPlaces;
  for (size_t i = 0; i < nights_.size(); ++i) {
    if (i >= thinned || i % share_ == 0) places_.emplace_back();
    places_.back().push_back(nights_[i]);
    place_of_[nights_[i]->id] = places_.size() - 1;
    if (i < thinned) older_ = places_.size();
  }
}

const Night* NightAxis::find(const std::string& night) const {
  const auto place = place_of_.find(night);
  return place == place_of_.end() ? nullptr : *std::ranges::find(places_[place->second], night, &Night::id);
}

json NightAxis::values() const {
  json values = json::array();
  for (size_t i = 0; i < places_.size(); ++i) {
    const Night &first = *places_[i].front(), &last = *places_[i].back();
    const bool one = places_[i].size() == 1;
    const auto range = [&](const std::string& from, const std::string& to) {
      return from == to ? from : from + " to " + to;
    };
    values.push_back({{"at", i},
                      {"night", one ? first.id : fmt::format("median of {} nights", places_[i].size())},
                      {"time", range(first.started_at, last.started_at)},
                      {"tag", range(first.tag, last.tag)},
                      {"revision", range(first.revision.substr(0, kShortRevision),
                                         last.revision.substr(0, kShortRevision))}});
  }
  return values;
}

}  // namespace harness
