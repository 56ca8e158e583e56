#include "harness/nightly/trend_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/nightly/analysis.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr size_t kFewNights = 130;     // draw dots up to this number of positions
constexpr double kLabelWidth = 0.2;    // width of a change's label, share of the chart
constexpr double kLeastHeight = 0.10;  // least range of the axis / median, so that noise of 1 % looks small
constexpr double kFarOff = 0.05;       // quantile at both ends that the axis need not cover
constexpr size_t kNewest = 5;          // newest nights, which the axis always covers

std::string chart_title(const Trend& trend, bool several_scales) {
  return several_scales ? fmt::format("{} ({}, {})", trend.row, trend.scale, trend.device) : trend.row;
}

// The range of the y axis. It always covers the newest nights and all levels. Other outliers would compress
// the chart, so they are drawn at the edge and marked.
std::pair<double, double> axis_of(std::vector<double> values, const TrendChart& chart) {
  const std::vector<double> newest(
      values.end() - static_cast<std::ptrdiff_t>(std::min(kNewest, values.size())), values.end());
  std::sort(values.begin(), values.end());
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

class ChartData {
 public:
  ChartData(const TrendChart& chart, const NightAxis& axis, const std::vector<Trend>& all)
      : chart_(chart), axis_(axis), all_(all) {
    for (size_t i = 0; i < chart.series.size(); ++i) add_series(i, *chart.series[i]);
    add_failures();
    label_changes();
    const auto [low, high] = axis_of(drawn_, chart);
    value_range_ = {low, high};
    for (json& point : points_)
      if (const double value = point["value"]; value > high || value < low) {
        point["beyond"] = 1;
        point["above"] = value > high ? 1 : 0;
      }
  }

  json value_range() const { return value_range_; }
  json datasets() const {
    json older = json::array(), ticks = json::array();
    if (axis_.older()) older.push_back({{"at", -0.5}, {"to", double(axis_.older()) - 0.5}});
    const size_t last = axis_.size() - 1, full = axis_.older();
    ticks.push_back({{"at", 0}, {"day", axis_.day(0)}, {"align", "left"}});
    if (full) ticks.push_back({{"at", full}, {"day", axis_.day(full)}, {"align", "center"}});
    if (last > 0) ticks.push_back({{"at", last}, {"day", axis_.day(last)}, {"align", "right"}});
    json under_mouse = failures_;
    for (const json& point : points_) under_mouse.push_back(told(point));
    return {{"points", points_},   {"levels", levels_}, {"breaks", breaks_}, {"failed", failures_},
            {"changes", changes_}, {"older", older},    {"ticks", ticks},    {"under_mouse", under_mouse}};
  }

 private:
  json told(const json& point) const {
    return {{"at", point["at"]},
            {"from", point["at"].get<double>() - 0.5},
            {"to", point["at"].get<double>() + 0.5},
            {"is", chart_.series[0]->text(point["value"])}};
  }

  void add_series(size_t number, const Trend& trend) {
    std::map<size_t, std::vector<double>> by_place;
    for (size_t i = 0; i < trend.values.size(); ++i)
      if (axis_.knows(trend.nights[i])) by_place[axis_.of(trend.nights[i])].push_back(trend.values[i]);
    if (by_place.empty()) return;
    if (number > 0) breaks_.push_back({{"at", double(by_place.begin()->first) - 0.5}});
    const bool dots = axis_.size() <= kFewNights || by_place.size() == 1;
    for (const auto& [at, values] : by_place) {
      drawn_.push_back(median(values));
      points_.push_back({{"at", at}, {"value", drawn_.back()}, {"series", number}, {"dot", dots ? 1 : 0}});
    }
    add_levels(trend);
    for (const ChangePoint& change : trend.changes) add_change(trend, change);
  }

  // The first level is the mean of the searched nights only, so it begins with them.
  void add_levels(const Trend& trend) {
    size_t begin = trend.values.size() - std::min(trend.values.size(), kNightsLookedAt);
    if (!trend.changes.empty() && trend.changes[0].index <= begin) begin = 0;
    const auto place = [&](size_t i) { return double(axis_.of(trend.nights[i])); };
    for (size_t i = 0; !trend.changes.empty() && i <= trend.changes.size(); ++i) {
      const size_t from = i == 0 ? begin : trend.changes[i - 1].index;
      const size_t to = i == trend.changes.size() ? trend.nights.size() - 1 : trend.changes[i].index - 1;
      const double level = i == 0 ? trend.changes[0].before : trend.changes[i - 1].after;
      levels_.push_back({{"at", place(from) - 0.5}, {"to", place(to) + 0.5}, {"level", level}});
    }
  }

  void add_change(const Trend& trend, const ChangePoint& change) {
    const std::string canary = trend.canary ? "" : canary_behind(all_, trend, change);
    const bool machine = trend.canary || !canary.empty();
    const double at = double(axis_.of(trend.nights[change.index]));
    changes_.push_back({{"at", at - 0.5},
                        {"side", at > 0.6 * double(axis_.size()) ? "left" : "right"},
                        {"kind", machine               ? "machine"
                                 : trend.worse(change) ? "worse"
                                                       : "better"},
                        {"percent", change_in_percent(change) + (canary.empty() ? "" : " machine")}});
  }

  // Labels changes from the newest on and omits labels that would overlap.
  void label_changes() {
    std::sort(changes_.begin(), changes_.end(),
              [](const json& a, const json& b) { return a["at"] < b["at"]; });
    double free_to = 2 * double(axis_.size());
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      const double at = (*change)["at"], width = kLabelWidth * double(axis_.size());
      const bool left = (*change)["side"] == "left";
      const bool fits = (left ? at : at + width) <= free_to;
      (*change)["label"] = fits ? (*change)["percent"] : json("");
      if (fits) free_to = left ? at - width : at;
    }
  }

  void add_failures() {
    const Trend& row = *chart_.series[0];
    if (row.canary) return;
    std::map<size_t, std::pair<size_t, std::string>> by_place;
    for (const Night* night : axis_.nights())
      for (const NightRow& it : night->rows)
        if (it.row == row.row && it.scale == row.scale && it.device == row.device && !it.ok()) {
          auto& [count, status] = by_place[axis_.of(night->id)];
          ++count;
          status = it.status;
        }
    for (const auto& [at, failed] : by_place) {
      json failure = {
          {"at", at}, {"from", double(at) - 0.5}, {"to", double(at) + 0.5}, {"nights", failed.first}};
      failure["is"] = failed.first == 1 ? failed.second
                                        : fmt::format("{} nights failed: {}", failed.first, failed.second);
      failures_.push_back(failure);
    }
  }

  const TrendChart& chart_;
  const NightAxis& axis_;
  const std::vector<Trend>& all_;
  std::vector<double> drawn_;
  json value_range_, points_ = json::array(), levels_ = json::array(), breaks_ = json::array(),
                     failures_ = json::array(), changes_ = json::array();
};

}  // namespace

std::vector<TrendChart> charts_of(const std::vector<Trend>& trends, const std::string& machine, bool canaries,
                                  const std::vector<Alarm>& alarms) {
  std::set<std::pair<std::string, std::string>> scales;
  for (const Trend& trend : trends)
    if (trend.machine == machine && !trend.canary) scales.insert({trend.scale, trend.device});
  std::vector<TrendChart> charts;
  for (const Trend& trend : trends) {
    if (trend.machine != machine || trend.canary != canaries || trend.values.empty()) continue;
    const std::string title = chart_title(trend, !canaries && scales.size() > 1);
    auto chart =
        std::find_if(charts.begin(), charts.end(), [&](const auto& it) { return it.title == title; });
    if (chart == charts.end()) chart = charts.insert(charts.end(), TrendChart{title, {}, false});
    chart->series.push_back(&trend);
    chart->alarm = chart->alarm || std::any_of(alarms.begin(), alarms.end(), [&](const Alarm& it) {
                     return it.canary.empty() && it.key == trend.key();
                   });
  }
  return charts;
}

const Trend& newest(const std::vector<const Trend*>& series, const NightAxis& axis) {
  return **std::max_element(series.begin(), series.end(), [&](const Trend* a, const Trend* b) {
    return axis.of(a->nights.back()) < axis.of(b->nights.back());
  });
}

std::string change_in_percent(const ChangePoint& change) {
  return fmt::format("{:+.1f} %", 100 * change.change());
}

json chart_spec(json spec, const TrendChart& chart, const NightAxis& axis, const std::string& nights,
                const std::vector<Trend>& all) {
  const ChartData data(chart, axis, all);
  const Trend& trend = newest(chart.series, axis);
  spec["title"]["text"] = chart.title + (chart.alarm ? ": " + alarm_word(*trend.metric) : "");
  std::string state = trend.text(trend.values.back());
  if (!trend.changes.empty())
    state += fmt::format("; {} since {}", change_in_percent(trend.changes.back()),
                         trend.started_at[trend.changes.back().index].substr(0, 10));
  spec["title"]["subtitle"] = state;
  spec["datasets"] = data.datasets();
  spec["/encoding/x/scale/domain"_json_pointer] = {-0.5, double(axis.size()) - 0.5};
  for (json& layer : spec["layer"]) {
    if (layer["data"]["name"] == "under_mouse") layer["/transform/0/from/data/name"_json_pointer] = nights;
    if (layer.contains("/encoding/y/scale/domain"_json_pointer))
      layer["/encoding/y/scale/domain"_json_pointer] = data.value_range();
  }
  return spec;
}

}  // namespace harness
