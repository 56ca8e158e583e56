// One small chart per row and canary: figure by night, levels, changes, failed nights.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

inline constexpr size_t kNightsInFull = 400;  // newest nights, each with its own position
inline constexpr size_t kOlderPlaces = 200;   // positions for all older nights

// The axis of a machine's charts: the positions of its nights. Older nights share positions.
class NightAxis {
 public:
  explicit NightAxis(std::vector<const Night*> nights);  // of one machine, oldest first

  size_t size() const { return places_.size(); }
  size_t older() const { return older_; }      // number of positions with several nights
  size_t per_place() const { return share_; }  // nights per such position
  bool knows(const std::string& night) const { return place_of_.contains(night); }
  size_t of(const std::string& night) const { return place_of_.at(night); }
  const Night* find(const std::string& night) const;  // null if it isn't one of them
  nlohmann::json values() const;                      // at, night, time, tag, revision: shown under the mouse
  const std::vector<const Night*>& nights() const { return nights_; }

 private:
  std::vector<const Night*> nights_;
  std::vector<std::vector<const Night*>> places_;
  std::map<std::string, size_t> place_of_;
  size_t older_ = 0, share_ = 1;
};

// All series of one row or one canary on one machine. A row has a new series when its settings change.
struct TrendChart {
  std::string title;
  std::vector<const Trend*> series;
  bool alarm = false;  // the row itself became worse, not the machine
};

// One chart per row (or with `canaries` per canary), in the order of the series.
std::vector<TrendChart> charts_of(const std::vector<Trend>& trends, const std::string& machine, bool canaries,
                                  const std::vector<Alarm>& alarms);

// Fills plots/trend.vl.json in `source_dir`. `nights`: the name of the page's data from NightAxis::values().
// `all`: all trends, to find the canary behind a change.
nlohmann::json chart_spec(const std::filesystem::path& source_dir, const TrendChart& chart,
                          const NightAxis& axis, const std::string& nights, const std::vector<Trend>& all);

std::string change_in_percent(const ChangePoint& change);  // `+9.8 %`
std::string last_change(const Trend& trend);               // `+9.8 % since 2026-01-31`; of one with changes

}  // namespace harness
