// Groups charts and the table of changes by machine; the last night's machine comes first.
#include "harness/nightly/trend_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/plain_text.h"
#include "harness/nightly/analysis.h"
#include "harness/nightly/history.h"
#include "harness/nightly/trend_chart.h"
#include "harness/report/page_file.h"
#include "harness/report/summary/grid.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The machines of all nights, that of the last night first.
std::vector<std::string> machines_of(const std::vector<Night>& nights) {
  std::vector<std::string> machines;
  for (auto night = nights.rbegin(); night != nights.rend(); ++night) add_once(machines, night->machine);
  return machines;
}

std::vector<const Night*> nights_on(const std::string& machine, const std::vector<Night>& nights) {
  std::vector<const Night*> found;
  for (const Night& night : nights)
    if (night.machine == machine) found.push_back(&night);
  return found;
}

std::vector<std::string> lines_about(const NightAxis& axis, bool of_last_night, const Metric& metric) {
  std::vector<std::string> lines = {
      fmt::format("{} in {}: {}.", metric.name, metric.unit, metric.description),
      "One chart per row, newest night on the right. Vertical lines: the level changed; solid: caused by the "
      "row's software or settings; dashed: a canary changed too, so the machine is the cause. Horizontal "
      "lines: levels between changes. Cross: the row failed in this night. Triangle: a value beyond the "
      "axis. Axes don't begin at zero. Point at a night for its value, time, tag and revision."};
  if (axis.older())
    lines.push_back(
        fmt::format("The last {} nights are drawn one by one. In the shaded part, every point is the median "
                    "of {} older nights.",
                    kNightsInFull, axis.per_place()));
  if (!of_last_night)
    lines.push_back("Changes are searched only on the machine of the last night.");
  else if (axis.nights().size() > kNightsLookedAt)
    lines.push_back(fmt::format("Changes are searched in the last {} nights of a series.", kNightsLookedAt));
  return lines;
}

constexpr size_t kMostChanges = 300;

using Change = std::pair<const Trend*, const ChangePoint*>;

const std::string& since(const Change& change) { return change.first->started_at[change.second->index]; }

std::vector<Change> newest_first(const std::vector<Trend>& trends, const std::string& machine) {
  std::vector<Change> changes;
  for (const Trend& trend : trends)
    if (trend.machine == machine)
      for (const ChangePoint& point : trend.changes) changes.push_back({&trend, &point});
  std::ranges::stable_sort(changes, std::ranges::greater(), since);
  return changes;
}

// The revisions of the last night before and the first night after the change.
std::string revisions(const Trend& trend, const ChangePoint& change, const NightAxis& axis) {
  const auto revision = [&](size_t i) {
    const Night* night = axis.find(trend.nights[i]);
    return !night || night->revision.empty() ? "?" : night->revision.substr(0, kShortRevision);
  };
  const std::string before = change.index > 0 ? revision(change.index - 1) : "?",
                    after = revision(change.index);
  return before == after ? after : before + " -> " + after;
}

std::string cause(const Trend& trend, const ChangePoint& change, const std::vector<Trend>& trends) {
  if (trend.canary) return "machine";
  const std::string canary = canary_behind(trends, trend, change);
  return canary.empty() ? "row" : "machine: canary " + canary;
}

// A line per change, newest first.
Grid changes_grid(const std::vector<Trend>& trends, const std::string& machine, const NightAxis& axis) {
  const std::vector<Change> changes = newest_first(trends, machine);
  Grid grid;
  grid.title = "Where levels changed, newest first";
  grid.columns = {{"row", true},   {"", true},      {"change"},          {"before"},     {"after"},
                  {"since", true}, {"night", true}, {"revisions", true}, {"cause", true}};
  for (size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i) {
    const auto& [trend, point] = changes[i];
    grid.rows.push_back({trend->canary ? "canary " + trend->row : trend->row,
                         change_word(*trend->metric, trend->worse(*point)), change_in_percent(*point),
                         trend->text(point->before), trend->text(point->after), since(changes[i]),
                         trend->nights[point->index], revisions(*trend, *point, axis),
                         cause(*trend, *point, trends)});
  }
  if (changes.size() > kMostChanges)
    grid.notes.push_back(fmt::format("{} older changes are left out", changes.size() - kMostChanges));
  grid.notes.push_back(
      "cause: the machine if a canary changed in the same direction at about the same night, otherwise the "
      "row's software or settings. before and after: means of the two levels.");
  return grid;
}

// The sections of one machine, `machines[place]`. Those of machines other than that of the last night, the
// first, are folded until the reader opens them.
void add_machine(PageFile& file, size_t place, const std::vector<std::string>& machines,
                 const std::vector<Night>& nights, const std::vector<Trend>& trends,
                 const std::vector<Alarm>& alarms, const fs::path& source_dir, const Metric& metric) {
  const std::string &machine = machines[place], prefix = fmt::format("machine-{}-", place);
  const NightAxis axis(nights_on(machine, nights));
  file.data[prefix + "nights"] = axis.values();
  const auto add = [&](const std::string& title, const json& about, const char* kind, const json& content) {
    if (content.empty()) return;
    json blocks = json::array();
    if (!about.empty()) blocks.push_back({{"lines", about}});
    blocks.push_back({{kind, content}});
    if (place > 0)
      blocks =
          json::array({fold(base::counted(int64_t(axis.nights().size()), "night") + ": " + title, blocks)});
    file.page["sections"].push_back(
        section(title, std::move(blocks), prefix, machines.size() > 1 ? machine : ""));
  };
  const auto drawn = [&](bool canaries) {
    json names = json::array();
    if (file.library.empty()) return names;
    for (const TrendChart& chart : charts_of(trends, machine, canaries, alarms)) {
      const std::string name = fmt::format("{}{}-{}", prefix, canaries ? "canary" : "row", names.size() + 1);
      file.specs[name] = chart_spec(source_dir, chart, axis, prefix + "nights", trends);
      names.push_back(name);
    }
    return names;
  };
  add("rows", lines_about(axis, place == 0, metric), "multiples", drawn(false));
  add("canaries",
      {"Fixed work that is the same in every revision of the program, so changes here come from the "
       "machine."},
      "multiples", drawn(true));
  const Grid changes = changes_grid(trends, machine, axis);
  add("changes", {}, "grid", changes.empty() ? json() : grid_json(changes));
}

std::string page_name(const Metric& metric, const std::string& only) {
  return (metric.name == kTotalSeconds ? "trend" : "trend-" + metric.name) +
         (only.empty() ? "" : "-" + encoded(only)) + ".html";
}

}  // namespace

void write_trend_page(const fs::path& folder, const std::vector<Trend>& trends,
                      const std::vector<Alarm>& alarms, const std::vector<Night>& nights,
                      const fs::path& source_dir, std::ostream& console, const Metric& metric,
                      const std::string& only) {
  PageFile file;
  add_drawing_library(file, source_dir, "No charts");
  file.without_script = "`./run_matrix history show last` shows the last night in a terminal";
  file.page["title"] = (only.empty() ? "Nights" : "Nights of " + only) +
                       (metric.name == kTotalSeconds ? "" : ": " + metric.name);
  const std::vector<std::string> machines = machines_of(nights);
  file.page["sections"].push_back(
      section("last night", last_night_blocks(trends, alarms, nights, machines, metric)));
  for (size_t place = 0; place < machines.size(); ++place)
    add_machine(file, place, machines, nights, trends, alarms, source_dir, metric);
  const fs::path page = folder / page_name(metric, only);
  write_page_file(page, std::move(file), source_dir);
  console << "trend: " << page.string() << '\n';
}

}  // namespace harness
