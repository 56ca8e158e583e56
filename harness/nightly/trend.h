// Trends: each row's and each canary's figure night by night, where it changed, and which change is news.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/nightly/change_points.h"
#include "harness/nightly/night.h"

namespace harness {

inline constexpr size_t kFewestNights = 20;  // no alarm from a shorter series
inline constexpr size_t kNightsToLast = 3;   // that a change has to last, and the level before it had lasted
inline constexpr size_t kNightsOfNews = 30;  // an older change is history: drawn, and no alarm

// A figure of one row with one setting (median seconds of the repeats), or of one canary (ms), on one
// machine. Another machine or another setting is another series: they are never joined.
struct Trend {
  std::string machine;
  std::string row;  // or the canary's name
  bool canary = false;
  std::string scale, device, config;            // rows only
  std::vector<std::string> nights, started_at;  // ids and times, one a value
  std::vector<double> values;
  double margin = 0.02;  // smallest change that counts
  std::vector<ChangePoint> changes;

  std::string key() const;  // the same every night
};

// A change that has lasted, in a series long enough.
struct Alarm {
  std::string key, row, machine, since;  // since: id of the first night after the change
  size_t index = 0;
  double before = 0, after = 0;
  std::string canary;  // that changed the same way about the same night: then it is the machine
};

// `margins`: smallest change by machine and row, 2 % where it says nothing.
using Margins = std::map<std::pair<std::string, std::string>, double>;
std::vector<Trend> trends_of(const std::vector<Night>& nights, const Margins& margins);

// The canary of the same machine that changed the same way about the same night; empty where there is none:
// then the row itself changed.
std::string canary_behind(const std::vector<Trend>& trends, const Trend& row, const ChangePoint& change);

// The last night has a value of the series, or ran its row and got none: what changed in it is still shown.
bool concerns(const Trend& trend, const Night& last);

// Rows that got slower or faster, after find_change_points has filled `changes`. Only series that the last
// night belongs to.
enum class Direction { slower, faster };
std::vector<Alarm> lasting_changes(const std::vector<Trend>& trends, const Night& last, Direction direction);

}  // namespace harness
