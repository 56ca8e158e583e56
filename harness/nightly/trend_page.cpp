// Groups charts and the table of changes by machine; the last night's machine comes first.
#include "harness/nightly/trend_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

struct Change {
  const Trend* trend;
  const ChangePoint* point;

  const std::string& since() const { return trend->started_at[point->index]; }
};

std::vector<Change> newest_first(const std::vector<Trend>& trends, const std::string& machine) {
  std::vector<Change> changes;
  for (const Trend& trend : trends)
    if (trend.machine == machine)
      for (const ChangePoint& point : trend.changes) changes.push_back({&trend, &point});
  std::ranges::stable_sort(changes, [](const Change& a, const Change& b) { return a.since() > b.since(); });
  return changes;
}

// The revisions of the last night before and the first night after the change.
std::string revisions(const Change& change, const std::map<std::string, const Night*>& nights) {
  const auto revision = [&](size_t i) {
    const auto night = nights.find(change.trend->nights[i]);
    return night == nights.end() || night->second->revision.empty()
               ? "?"
               : night->second->revision.substr(0, kShortRevision);
  };
  const size_t first = change.point->index;
  const std::string before = first > 0 ? revision(first - 1) : "?", after = revision(first);
  return before == after ? after : before + " -> " + after;
}

std::string cause(const Change& change, const std::vector<Trend>& trends) {
  if (change.trend->canary) return "machine";
  const std::string canary = canary_behind(trends, *change.trend, *change.point);
  return canary.empty() ? "row" : "machine: canary " + canary;
}

// A line per change, newest first.
Grid changes_grid(const std::vector<Trend>& trends, const std::string& machine, const NightAxis& axis) {
  std::map<std::string, const Night*> nights;
  for (const Night* night : axis.nights()) nights[night->id] = night;
  const std::vector<Change> changes = newest_first(trends, machine);
  Grid grid;
  grid.title = "Where levels changed, newest first";
  grid.columns = {{"row", true},   {"", true},      {"change"},          {"before"},     {"after"},
                  {"since", true}, {"night", true}, {"revisions", true}, {"cause", true}};
  for (size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i) {
    const auto& [trend, point] = changes[i];
    grid.rows.push_back({trend->canary ? "canary " + trend->row : trend->row,
                         change_word(*trend->metric, trend->worse(*point)), change_in_percent(*point),
                         trend->text(point->before), trend->text(point->after), changes[i].since(),
                         trend->nights[point->index], revisions(changes[i], nights),
                         cause(changes[i], trends)});
  }
  if (changes.size() > kMostChanges)
    grid.notes.push_back(fmt::format("{} older changes are left out", changes.size() - kMostChanges));
  grid.notes.push_back(
      "cause: the machine if a canary changed in the same direction at about the same night, otherwise the "
      "row's software or settings. before and after: means of the two levels.");
  return grid;
}

// One machine's part of the page.
struct MachinePart {
  PageFile& file;
  const fs::path& source_dir;
  const std::vector<Trend>& trends;
  const std::vector<Alarm>& alarms;
  const NightAxis& axis;
  const std::string machine;
  const std::string prefix;  // of its names in the file
  const std::string part;    // its heading; empty if there is one machine
  const bool folded;         // until the reader opens it; for machines other than that of the last night

  json charts(bool canaries) const {
    json names = json::array();
    if (file.library.empty()) return names;
    for (const TrendChart& chart : charts_of(trends, machine, canaries, alarms)) {
      const std::string name = fmt::format("{}{}-{}", prefix, canaries ? "canary" : "row", names.size() + 1);
      file.specs[name] = chart_spec(source_dir, chart, axis, prefix + "nights", trends);
      names.push_back(name);
    }
    return names;
  }

  void add(const std::string& title, const json& about, const char* kind, const json& content) const {
    json blocks = json::array();
    if (!about.empty()) blocks.push_back({{"lines", about}});
    blocks.push_back({{kind, content}});
    if (folded)
      blocks = json::array({fold(fmt::format("{} nights: {}", axis.nights().size(), title), blocks)});
    file.page["sections"].push_back(section(title, std::move(blocks), prefix, part));
  }

  void add_all(const Metric& metric) const {
    file.data[prefix + "nights"] = axis.values();
    if (const json rows = charts(false); !rows.empty())
      add("rows", lines_about(axis, !folded, metric), "multiples", rows);
    if (const json canaries = charts(true); !canaries.empty())
      add("canaries",
          {"Fixed work that is the same in every revision of the program, so changes here come from the "
           "machine."},
          "multiples", canaries);
    if (const Grid changes = changes_grid(trends, machine, axis); !changes.empty())
      add("changes", {}, "grid", grid_json(changes));
  }
};

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
  for (size_t i = 0; i < machines.size(); ++i) {
    const NightAxis axis(nights_on(machines[i], nights));
    MachinePart{.file = file,
                .source_dir = source_dir,
                .trends = trends,
                .alarms = alarms,
                .axis = axis,
                .machine = machines[i],
                .prefix = fmt::format("machine-{}-", i),
                .part = machines.size() > 1 ? machines[i] : "",
                .folded = i > 0}
        .add_all(metric);
  }
  const fs::path page = folder / page_name(metric, only);
  write_page_file(page, std::move(file), source_dir);
  console << "trend: " << page.string() << '\n';
}

}  // namespace harness
