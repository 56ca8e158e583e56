// Trends: a metric of each row, and each canary, by night; their changes, and alarms for lasting changes.
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "harness/contract/codec.h"
#include "harness/experiment/policy/policy.h"
#include "harness/nightly/night.h"
#include "harness/report/metrics.h"

namespace harness {

struct ChangePoint {
  size_t index = 0;              // first night after the change
  double before = 0, after = 0;  // means of the levels before and after
  double p = 1;                  // of Student's t test between the two levels

  double change() const { return after / before - 1; }
  KEYS(ChangePoint, REQUIRED(index, "of the first night after the change"), REQUIRED(before, "mean"),
       REQUIRED(after, "mean"), REQUIRED(p, "of Student's t between them"));
};

// A metric with `better`. Throws std::invalid_argument naming these metrics if `name` isn't one of them.
const Metric& followed_metric(const std::string& name);
const Metric& seconds();  // followed_metric(kTotalSeconds)

// The series of one row with one setting, or of one canary (ms), on one machine. Each machine and each
// setting has its own series.
struct Trend {
  std::string machine;
  std::string row;  // or the canary's name
  bool canary = false;
  std::string scale = {}, device = {}, config = {};       // only for rows
  std::vector<std::string> nights = {}, started_at = {};  // id and time of each value's night
  std::vector<double> values = {};
  double margin = kSmallestMargin;  // smallest relevant change
  std::vector<ChangePoint> changes = {};
  const Metric* metric = &seconds();  // of canaries too, whose unit is ms

  std::string key() const;  // identifies the series across nights
  bool is_of(const std::string& on_machine, const NightRow& of_night) const;  // the row's series there
  size_t first_searched() const;                // changes are searched from this night on
  bool worse(const ChangePoint& change) const;  // the change is in the metric's bad direction
  std::string text(double value) const;         // with the unit: `12.3 s`
};

// Sets `changes`, with the trend's margin as the smallest one. Window 50 and p 0.001 are Otava's defaults.
// `source_dir` contains harness/nightly/change_points.py and .venv/. Throws std::runtime_error with the next
// step if Otava fails.
void find_changes(const std::vector<Trend*>& trends, const std::filesystem::path& source_dir);

// The words for both directions: slower and faster for seconds, worse and better for other metrics.
std::string change_word(const Metric& metric, bool worse);
std::string alarm_word(const Metric& metric);  // SLOWER or WORSE

// A lasting change in a series that is long enough.
struct Alarm {
  std::string key, row, machine, since;
  size_t index = 0;  // of `since` in the series; means something in its own night only
  double before = 0, after = 0;
  std::string canary, told = {};
  // A line of alarms.jsonl.
  KEYS(Alarm, REQUIRED(key, "of the trend"), REQUIRED(row, "whose figure changed"),
       REQUIRED(machine, "fingerprint"), REQUIRED(since, "id of the first night after the change"),
       REQUIRED(before, "mean, in the metric's unit"), REQUIRED(after, "mean, in the metric's unit"),
       REQUIRED(canary, "canary_behind(); if not empty, the machine is the cause"),
       KEY(told, "id of the night that told it"));
};

// How many became worse by themselves and not by their machine.
size_t regressions(const std::vector<Alarm>& alarms);

// Margins are kSmallestMargin or kMetricMargin. Nights without the metric, which older programs have written,
// have no value in the series.
std::vector<Trend> trends_of(const std::vector<Night>& nights, const Metric& metric = seconds());
// Nullopt if the row failed, others spoiled it, its figure is 0 or its night was written without the metric.
std::optional<double> value_of(const NightRow& row, const Metric& metric);

// A canary of the same machine that changed in the same direction at about the same night. Empty if there is
// none, so that the row itself changed.
std::string canary_behind(const std::vector<Trend>& trends, const Trend& row, const ChangePoint& change);

// Whether the last night has a value in the series, ran its row without success, or its machine the canary.
bool concerns(const Trend& trend, const Night& last);

// Rows of the last night that became worse or better. Needs find_changes().
enum class Direction { worse, better };
std::vector<Alarm> lasting_changes(const std::vector<Trend>& trends, const Night& last, Direction direction);

// HISTORY/alarms.jsonl, one line per reported alarm; where many hosts share it, alarms-HOST.jsonl.
class AnnouncedAlarms {
 public:
  // Reads all `files` and adds to the first. Leaves out damaged lines, with a warning.
  AnnouncedAlarms(const std::vector<std::filesystem::path>& files, std::ostream& warnings);

  // The alarms that no earlier night has reported.
  std::vector<Alarm> news(const std::vector<Alarm>& alarms, const std::vector<Trend>& trends) const;
  // Throws std::runtime_error when the file can't be written.
  void add(const std::vector<Alarm>& alarms, const std::string& night);

 private:
  std::filesystem::path file_;
  std::vector<Alarm> announced_;
};

}  // namespace harness
