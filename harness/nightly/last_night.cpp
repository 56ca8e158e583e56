// Formats the alarms, failed rows and canaries, with each figure relative to the median of earlier nights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "harness/nightly/analysis.h"
#include "harness/nightly/night.h"
#include "harness/nightly/trend_chart.h"
#include "harness/nightly/trend_page.h"
#include "harness/report/page_file.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr size_t kAlarmsInFull = 6;

std::string alarm_text(const Alarm& alarm, const Metric& metric) {
  const double change = 100 * (alarm.after / alarm.before - 1);
  return fmt::format("row {} {} since {}: {:.4g} {}, before {:.4g} {}", alarm.row,
                     metric.name == kTotalSeconds
                         ? fmt::format("takes {:.1f} % longer", change)
                         : fmt::format("changed by {:+.1f} % in {}", change, metric.name),
                     alarm.since, alarm.after, metric.unit, alarm.before, metric.unit);
}

json alarm(const std::string& word, const std::string& text) { return {{"alarm", {word, text}}}; }
json mark(const std::string& word, const std::string& text) { return {{"mark", {word, text}}}; }

void add_alarms(json& blocks, const std::vector<Alarm>& alarms, const Metric& metric) {
  std::vector<const Alarm*> of_rows;
  RowsByText by_canary;
  for (const Alarm& one : alarms)
    if (one.canary.empty())
      of_rows.push_back(&one);
    else
      add_text(by_canary, one.canary, one.row);
  std::ranges::stable_sort(of_rows, std::ranges::greater(), &Alarm::index);
  for (size_t i = 0; i < std::min(of_rows.size(), kAlarmsInFull); ++i)
    blocks.push_back(alarm(alarm_word(metric), alarm_text(*of_rows[i], metric)));
  if (of_rows.size() > kAlarmsInFull)
    blocks.push_back(alarm(
        alarm_word(metric),
        fmt::format("{} more {}, see the table of changes below", of_rows.size() - kAlarmsInFull,
                    metric.name == kTotalSeconds ? "lasting slow-downs" : "lasting changes for the worse")));
  for (const auto& [canary, rows] : by_canary)
    blocks.push_back(mark("MACHINE", fmt::format("the canary {} slowed down together with {} {}: {}", canary,
                                                 rows.size() == 1 ? "row" : "rows", fmt::join(rows, ", "),
                                                 "check the machine before the software")));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> failed_rows(const Night& night) {
  std::vector<std::string> failed;
  for (const NightRow& row : night.rows)
    if (row.failed()) failed.push_back(fmt::format("{} ({})", row.row, row.status));
  return failed;
}

std::string rows_in_words(const Night& night, const std::vector<std::string>& failed) {
  std::string text = fmt::format("{} OK", night.rows_ok());
  if (const size_t skipped = night.rows.size() - night.rows_ok() - failed.size(); skipped > 0)
    text += fmt::format(", {} skipped", skipped);
  return failed.empty() ? text
                        : fmt::format("{}, {} failed: {}", text, failed.size(), fmt::join(failed, ", "));
}

// The last value of a series relative to the median of the nights before it.
std::string against_before(const Trend& trend) {
  if (trend.values.size() < 2) return "-";
  const size_t from = trend.values.size() - 1 - std::min(kTypicalOver, trend.values.size() - 1);
  const double before =
      median({trend.values.begin() + static_cast<std::ptrdiff_t>(from), trend.values.end() - 1});
  return fmt::format("{:+.1f} %", 100 * (trend.values.back() / before - 1));
}

Grid rows_grid(const std::vector<Trend>& trends, const Night& night, const Metric& metric) {
  Grid grid;
  const std::string header = metric.header.empty() ? metric.name : metric.header;
  const bool corrected =
      metric.name == kTotalSeconds &&
      std::ranges::any_of(night.rows, [](const NightRow& row) { return !row.undisturbed_s.empty(); });
  grid.columns = {{"row", true},      {"status", true}, {header},
                  {"against before"}, {"nights"},       {"last change", true}};
  for (const NightRow& row : night.rows) {
    const auto trend =
        std::ranges::find_if(trends, [&](const Trend& one) { return one.is_of(night.machine, row); });
    const bool has = trend != trends.end();
    const std::optional<double> value = value_of(row, metric);
    grid.rows.push_back({row.row, row.status, value ? fmt::format("{:.4g}", *value) : "-",
                         value && has ? against_before(*trend) : "-",
                         has ? std::to_string(trend->values.size()) : "0",
                         has && !trend->changes.empty() ? last_change(*trend) : "-"});
    if (corrected) grid.rows.back().push_back(row.ok() ? fmt::format("{:.4g}", row.median_s()) : "-");
  }
  if (corrected) grid.columns.push_back({"as measured"});
  grid.notes = {
      fmt::format("{}: {}. against before: relative to the median of up to {} nights before, with the same "
                  "settings on the same machine.",
                  header, metric.description, kTypicalOver)};
  if (corrected)
    grid.notes.push_back(
        "others took processor time in this night: rows that wait for nothing else are compared without it; "
        "as measured: with it");
  return grid;
}

std::string canaries_in_words(const std::vector<Trend>& trends, const Night& night) {
  std::vector<std::string> parts;
  for (const Trend& trend : trends)
    if (trend.canary && trend.machine == night.machine && trend.nights.back() == night.id)
      parts.push_back(
          fmt::format("{} {} ({})", trend.row, trend.text(trend.values.back()), against_before(trend)));
  return parts.empty() ? "none were run"
                       : fmt::format("{}; in brackets: relative to the median of up to {} nights before",
                                     fmt::join(parts, ", "), kTypicalOver);
}

Facts facts_of(const std::vector<Trend>& trends, const std::vector<Night>& nights,
               const std::vector<std::string>& machines) {
  const Night& last = nights.back();
  const std::vector<std::string> failed = failed_rows(last);
  const auto word_or = [](const std::string& text, const char* otherwise) {
    return text.empty() ? otherwise : text;
  };
  std::vector<std::string> counted;
  for (const std::string& machine : machines) {
    const auto on_it = std::ranges::count_if(nights, [&](const Night& it) { return it.machine == machine; });
    counted.push_back(machines.size() == 1 ? machine : fmt::format("{} ({} nights)", machine, on_it));
  }
  return {
      {"Nights", fmt::format("{}, from {} to {}", nights.size(), nights.front().started_at, last.started_at)},
      {machines.size() == 1 ? "Machine" : "Machines", fmt::format("{}", fmt::join(counted, "; "))},
      {"Last night",
       fmt::format("{}, tag {}, revision {}, on {}", last.id, word_or(last.tag, "none"),
                   word_or(last.revision.substr(0, kShortRevision), "unknown"), word_or(last.host, "?"))},
      {"Rows", rows_in_words(last, failed)},
      {"Canaries", canaries_in_words(trends, last)}};
}

}  // namespace

json last_night_blocks(const std::vector<Trend>& trends, const std::vector<Alarm>& alarms,
                       const std::vector<Night>& nights, const std::vector<std::string>& machines,
                       const Metric& metric) {
  const Night& last = nights.back();
  const std::vector<std::string> failed = failed_rows(last);
  json blocks = json::array();
  add_alarms(blocks, alarms, metric);
  if (!failed.empty()) blocks.push_back(alarm("FAILED", fmt::format("{}", fmt::join(failed, ", "))));
  for (const std::string& fault : last.gpu_faults) blocks.push_back(alarm("GPU", one_line(fault)));
  if (const std::vector<std::string> spoiled = last.spoiled_rows(); !spoiled.empty())
    blocks.push_back(mark("DISTURBED", fmt::format("others took so much of the cores that these rows aren't "
                                                   "compared with other nights: {}",
                                                   fmt::join(spoiled, ", "))));
  if (const std::string text = first_nights_text(first_nights(trends, last)); !text.empty())
    blocks.push_back({{"lines", lines_of(text)}});
  if (!last.complete)
    blocks.push_back(mark("CUT SHORT", "the last night ended early; only its finished rows are shown"));
  if (alarms.empty() && failed.empty()) blocks.push_back({{"lines", {"No alarm, no failed row."}}});
  blocks.push_back({{"facts", facts_of(trends, nights, machines)}});
  blocks.push_back(fold("Row by row", json::array({{{"grid", grid_json(rows_grid(trends, last, metric))}}})));
  return blocks;
}

}  // namespace harness
