// Collects the series of figures, searches their changes with Otava, decides which last, looks for canaries
// that changed too, and keeps the alarms that were announced.
#include "harness/nightly/trend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/base/scratch.h"
#include "harness/config/nearest.h"
#include "harness/stats/records.h"

namespace harness {

using nlohmann::json;

const Metric& followed_metric(const std::string& name) {
  std::vector<std::string> followed;
  bool known = false;
  for (const Metric& metric : metrics()) {
    if (metric.better && metric.name == name) return metric;
    if (metric.better) followed.push_back(metric.name);
    known = known || metric.name == name;
  }
  const std::string near = known ? "" : nearest(name, followed);
  throw std::invalid_argument(
      fmt::format("metric `{}`: {}{}; a history follows {}", name,
                  known ? "a column of table.csv that isn't kept in a history" : "no such metric",
                  near.empty() ? "" : fmt::format(", did you mean '{}'?", near), fmt::join(followed, ", ")));
}

const Metric& seconds() {
  static const Metric& metric = followed_metric(kTotalSeconds);
  return metric;
}

bool Trend::worse(const ChangePoint& change) const {
  return (change.change() > 0) == (canary || metric->better == Better::lower);
}

std::string Trend::text(double value) const {
  return fmt::format("{:.4g} {}", value, canary ? "ms" : metric->unit);
}

std::string change_word(const Metric& metric, bool worse) {
  if (metric.name == kTotalSeconds) return worse ? "slower" : "faster";
  return worse ? "worse" : "better";
}

std::string alarm_word(const Metric& metric) { return metric.name == kTotalSeconds ? "SLOWER" : "WORSE"; }

std::optional<double> value_of(const NightRow& row, const Metric& metric) {
  if (!row.ok() || row.is_spoiled()) return std::nullopt;
  if (metric.name == kTotalSeconds) return row.compared_s();
  const auto found = row.metrics.find(metric.name);
  return found == row.metrics.end() ? std::nullopt : std::optional(found->second);
}

std::string Trend::key() const {
  return canary ? fmt::format("{}; canary {}", machine, row)
                : fmt::format("{}; {} {} {} {}", machine, scale, device, row, config);
}

bool Trend::is_of(const std::string& on_machine, const NightRow& of_night) const {
  return !canary && std::tie(machine, row, scale, device, config) ==
                        std::tie(on_machine, of_night.row, of_night.scale, of_night.device, of_night.config);
}

size_t Trend::first_searched() const { return values.size() - std::min(values.size(), kNightsLookedAt); }

bool concerns(const Trend& trend, const Night& last) {
  if (trend.nights.back() == last.id) return true;
  return trend.canary ? trend.machine == last.machine
                      : std::ranges::any_of(
                            last.rows, [&](const NightRow& row) { return trend.is_of(last.machine, row); });
}

void find_changes(const std::vector<Trend*>& trends, const std::filesystem::path& source_dir) {
  json asked = {{"window", 50}, {"p", 0.001}, {"series", json::array()}};
  for (const Trend* trend : trends) {
    const std::vector<double> searched(trend->values.begin() + std::ptrdiff_t(trend->first_searched()),
                                       trend->values.end());
    asked["series"].push_back({{"values", searched}, {"magnitude", trend->margin}});
  }
  const base::Scratch folder;
  base::write_whole_file(folder.path() / "series.json", asked.dump(), /*durable=*/false);
  base::Command command;
  command.arguments = {source_dir / ".venv/bin/python", source_dir / "harness/nightly/change_points.py",
                       folder.path() / "series.json"};
  base::Finished finished;
  try {
    finished = base::run_to_end(command);
  } catch (const std::runtime_error& error) {
    finished = {127, error.what()};
  }
  const json found = base::parse_json(finished.output);
  if (finished.exit_code != 0 || !found.is_array() || found.size() != trends.size())
    throw std::runtime_error(
        fmt::format("change points were not searched: {} ended with exit code {}; run ./run_matrix once "
                    "without --no-install, then `./run_matrix history trend` searches again",
                    command.arguments[1], finished.exit_code));
  for (size_t i = 0; i < trends.size(); ++i) {
    trends[i]->changes = decode<std::vector<ChangePoint>>(found[i]);
    for (ChangePoint& change : trends[i]->changes) change.index += trends[i]->first_searched();
  }
}

std::vector<Trend> trends_of(const std::vector<Night>& nights, const Metric& metric) {
  std::vector<Trend> trends;
  std::map<std::string, size_t> places;
  const auto add = [&](const Night& night, double value, Trend fresh) {
    const auto [place, is_new] = places.try_emplace(fresh.key(), trends.size());
    if (is_new) trends.push_back(std::move(fresh));
    Trend& trend = trends[place->second];
    trend.nights.push_back(night.id);
    trend.started_at.push_back(night.started_at);
    trend.values.push_back(value);
  };
  for (const Night& night : nights) {
    for (const NightRow& row : night.rows)
      if (const std::optional<double> value = value_of(row, metric))
        add(night, *value,
            {.machine = night.machine,
             .row = row.row,
             .scale = row.scale,
             .device = row.device,
             .config = row.config,
             .margin = metric.name == kTotalSeconds ? kSmallestMargin : kMetricMargin,
             .metric = &metric});
    for (const auto& [name, ms] : night.canaries)
      add(night, ms, {.machine = night.machine, .row = name, .canary = true, .margin = kCanaryMargin});
  }
  return trends;
}

size_t regressions(const std::vector<Alarm>& alarms) {
  return size_t(std::ranges::count_if(alarms, &std::string::empty, &Alarm::canary));
}

// Whether the night is one of the series' from `reach` nights before the place to `reach` after it.
static bool is_near(const Trend& trend, size_t place, size_t reach, const std::string& night) {
  const size_t first = place - std::min(place, reach);
  const size_t last = std::min(place + reach, trend.nights.size() - 1);
  for (size_t i = first; i <= last; ++i)
    if (trend.nights[i] == night) return true;
  return false;
}

std::string canary_behind(const std::vector<Trend>& trends, const Trend& row, const ChangePoint& change) {
  for (const Trend& canary : trends) {
    if (!canary.canary || canary.machine != row.machine) continue;
    for (const ChangePoint& other : canary.changes) {
      // Series may begin in different nights, so compare the nights' ids and not the indices.
      if (canary.worse(other) == row.worse(change) &&
          is_near(row, change.index, kAboutTheSameNight, canary.nights[other.index]))
        return canary.row;
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
      if (trend.worse(change) == (direction == Direction::worse) && is_news(trend, place))
        alarms.push_back({trend.key(), trend.row, trend.machine, trend.nights[change.index], change.index,
                          change.before, change.after, canary_behind(trends, trend, change)});
    }
  }
  return alarms;
}

AnnouncedAlarms::AnnouncedAlarms(const std::vector<std::filesystem::path>& files, std::ostream& warnings)
    : file_(files.front()) {
  for (const std::filesystem::path& file : files) {
    std::ifstream input(file);
    base::read_json_lines(
        input, file, warnings, "line left out, so this alarm may be reported again",
        [this](const nlohmann::json& line, int) { announced_.push_back(decode<Alarm>(line)); });
  }
}

std::vector<Alarm> AnnouncedAlarms::news(const std::vector<Alarm>& alarms,
                                         const std::vector<Trend>& trends) const {
  std::vector<Alarm> fresh;
  for (const Alarm& alarm : alarms) {
    const auto trend = std::ranges::find_if(trends, [&](const Trend& it) { return it.key() == alarm.key; });
    const auto known = [&](const Alarm& announced) {
      return announced.key == alarm.key &&
             (announced.after > announced.before) == (alarm.after > alarm.before) &&
             is_near(*trend, alarm.index, kSameChange, announced.since);
    };
    if (std::ranges::none_of(announced_, known)) fresh.push_back(alarm);
  }
  return fresh;
}

void AnnouncedAlarms::add(const std::vector<Alarm>& alarms, const std::string& night) {
  for (Alarm alarm : alarms) {
    alarm.told = night;
    append_record(file_, encode(alarm));
    announced_.push_back(std::move(alarm));
  }
}

}  // namespace harness
