#include "harness/nightly/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace harness {
namespace {

constexpr size_t kAboutTheSameNight = 2;  // nights between two change points with the same cause
constexpr double kCanaryMargin = 0.03;

Trend& find_or_add(std::vector<Trend>& trends, std::map<std::string, size_t>& places, Trend fresh) {
  const auto [place, is_new] = places.try_emplace(fresh.key(), trends.size());
  if (is_new) trends.push_back(std::move(fresh));
  return trends[place->second];
}

void add_night(Trend& trend, const Night& night, double value) {
  trend.nights.push_back(night.id);
  trend.started_at.push_back(night.started_at);
  trend.values.push_back(value);
}

}  // namespace

std::string Trend::key() const {
  return canary ? fmt::format("{}; canary {}", machine, row)
                : fmt::format("{}; {} {} {} {}", machine, scale, device, row, config);
}

bool concerns(const Trend& trend, const Night& last) {
  if (trend.nights.back() == last.id) return true;
  return trend.machine == last.machine && !trend.canary &&
         std::any_of(last.rows.begin(), last.rows.end(), [&](const NightRow& row) {
           return row.row == trend.row && row.scale == trend.scale && row.device == trend.device &&
                  row.config == trend.config;
         });
}

std::vector<Trend> trends_of(const std::vector<Night>& nights, const Margins& margins) {
  std::vector<Trend> trends;
  std::map<std::string, size_t> places;
  for (const Night& night : nights) {
    for (const NightRow& row : night.rows) {
      if (!row.ok()) continue;
      Trend fresh;
      fresh.machine = night.machine;
      fresh.row = row.row;
      fresh.scale = row.scale;
      fresh.device = row.device;
      fresh.config = row.config;
      if (const auto margin = margins.find({night.machine, row.row}); margin != margins.end())
        fresh.margin = margin->second;
      add_night(find_or_add(trends, places, std::move(fresh)), night, row.median_s());
    }
    for (const auto& [name, ms] : night.canaries) {
      Trend fresh;
      fresh.machine = night.machine;
      fresh.row = name;
      fresh.canary = true;
      fresh.margin = kCanaryMargin;
      add_night(find_or_add(trends, places, std::move(fresh)), night, ms);
    }
  }
  return trends;
}

std::string canary_behind(const std::vector<Trend>& trends, const Trend& row, const ChangePoint& change) {
  for (const Trend& canary : trends) {
    if (!canary.canary || canary.machine != row.machine) continue;
    for (const ChangePoint& other : canary.changes) {
      if ((other.change() > 0) != (change.change() > 0)) continue;
      // Series may begin in different nights, so compare the nights' ids and not the indices.
      const size_t from = change.index >= kAboutTheSameNight ? change.index - kAboutTheSameNight : 0;
      const size_t to = std::min(row.nights.size() - 1, change.index + kAboutTheSameNight);
      for (size_t i = from; i <= to; ++i)
        if (row.nights[i] == canary.nights[other.index]) return canary.row;
    }
  }
  return "";
}

// Whether a change raises an alarm: both levels last at least kNightsToLast nights, so that single outliers
// are ignored; the change is recent; and later changes have not undone it.
static bool is_news(const Trend& trend, size_t place) {
  const ChangePoint &change = trend.changes[place], &latest = trend.changes.back();
  const size_t level_began = place > 0 ? trend.changes[place - 1].index : 0;
  const size_t nights_since = trend.values.size() - change.index;
  if (change.index - level_began < kNightsToLast || nights_since < kNightsToLast ||
      nights_since > kNightsOfNews)
    return false;
  if (&change == &latest) return true;
  const double since = latest.after / change.before - 1;
  return std::abs(since) >= trend.margin && (since > 0) == (change.change() > 0);
}

std::vector<Alarm> lasting_changes(const std::vector<Trend>& trends, const Night& last, Direction direction) {
  std::vector<Alarm> alarms;
  for (const Trend& trend : trends) {
    if (trend.canary || trend.values.size() < kFewestNights || trend.nights.back() != last.id) continue;
    for (size_t place = 0; place < trend.changes.size(); ++place) {
      const ChangePoint& change = trend.changes[place];
      if ((change.change() > 0) == (direction == Direction::slower) && is_news(trend, place))
        alarms.push_back({trend.key(), trend.row, trend.machine, trend.nights[change.index], change.index,
                          change.before, change.after, canary_behind(trends, trend, change)});
    }
  }
  return alarms;
}

}  // namespace harness
