#include "harness/nightly/trend_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/nightly/analysis.h"
#include "harness/nightly/last_night.h"
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
  for (auto night = nights.rbegin(); night != nights.rend(); ++night)
    if (std::find(machines.begin(), machines.end(), night->machine) == machines.end())
      machines.push_back(night->machine);
  return machines;
}

std::vector<const Night*> nights_on(const std::string& machine, const std::vector<Night>& nights) {
  std::vector<const Night*> found;
  for (const Night& night : nights)
    if (night.machine == machine) found.push_back(&night);
  return found;
}

json lines_of(const std::vector<std::string>& lines) { return {{"lines", lines}}; }

json lines_about(const NightAxis& axis, bool of_last_night, const Metric& metric) {
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
  return lines_of(lines);
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
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.since() > b.since(); });
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

// Adds one machine's part of the page.
class MachinePart {
 public:
  MachinePart(PageFile& file, const fs::path& source_dir, const std::vector<Trend>& trends,
              const std::vector<Alarm>& alarms, const NightAxis& axis, const Metric& metric, size_t number)
      : file_(file),
        source_dir_(source_dir),
        trends_(trends),
        alarms_(alarms),
        axis_(axis),
        metric_(metric),
        prefix_(fmt::format("machine-{}-", number)) {}

  // `folded`: collapsed until the reader opens it, for machines other than that of the last night.
  void add(const std::string& machine, const std::string& part, bool folded) {
    file_.data[prefix_ + "nights"] = axis_.values();
    const json rows = charts(machine, false), canaries = charts(machine, true);
    if (!rows.empty())
      section("rows", part, folded,
              json::array({lines_about(axis_, !folded, metric_), {{"multiples", rows}}}));
    if (!canaries.empty())
      section("canaries", part, folded,
              json::array({lines_of({"Fixed work that is the same in every revision of the program, so "
                                     "changes here come from the machine."}),
                           {{"multiples", canaries}}}));
    if (const Grid changes = changes_grid(trends_, machine, axis_); !changes.empty())
      section("changes", part, folded, json::array({{{"grid", grid_json(changes)}}}));
  }

 private:
  json charts(const std::string& machine, bool canaries) {
    json names = json::array();
    if (file_.library.empty()) return names;
    for (const TrendChart& chart : charts_of(trends_, machine, canaries, alarms_)) {
      const std::string name = fmt::format("{}{}-{}", prefix_, canaries ? "canary" : "row", names.size() + 1);
      file_.specs[name] = chart_spec(source_dir_, chart, axis_, prefix_ + "nights", trends_);
      names.push_back(name);
    }
    return names;
  }

  void section(const std::string& title, const std::string& part, bool folded, json blocks) {
    if (folded)
      blocks =
          json::array({{{"fold", {fmt::format("{} nights: {}", axis_.nights().size(), title), blocks}}}});
    file_.page["sections"].push_back(
        {{"id", prefix_ + title}, {"title", title}, {"part", part}, {"blocks", std::move(blocks)}});
  }

  PageFile& file_;
  const fs::path& source_dir_;
  const std::vector<Trend>& trends_;
  const std::vector<Alarm>& alarms_;
  const NightAxis& axis_;
  const Metric& metric_;
  std::string prefix_;
};

std::string page_name(const Metric& metric, const std::string& only) {
  std::string name = metric.name == kTotalSeconds ? "trend" : "trend-" + metric.name;
  for (const char c : only.empty() ? "" : "-" + only)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '-';
  return name + ".html";
}

}  // namespace

void write_trend_page(const fs::path& folder, const std::vector<Trend>& trends,
                      const std::vector<Alarm>& alarms, const std::vector<Night>& nights,
                      const fs::path& source_dir, std::ostream& console, const Metric& metric,
                      const std::string& only) {
  PageFile file;
  file.library = drawing_library(source_dir);
  file.without_script = "`./run_matrix history show last` shows the last night in a terminal";
  file.page = {{"title", (only.empty() ? "Nights" : "Nights of " + only) +
                             (metric.name == kTotalSeconds ? "" : ": " + metric.name)},
               {"sections", json::array()},
               {"note", ""}};
  if (file.library.empty())
    file.page["note"] =
        "No charts, because the plot renderer is missing: run ./run_matrix once without --no-install, then "
        "`./run_matrix history trend` draws them.";
  const std::vector<std::string> machines = machines_of(nights);
  file.page["sections"].push_back({{"id", "last-night"},
                                   {"title", "last night"},
                                   {"part", ""},
                                   {"blocks", last_night_blocks(trends, alarms, nights, machines, metric)}});
  for (size_t i = 0; i < machines.size(); ++i) {
    const NightAxis axis(nights_on(machines[i], nights));
    MachinePart(file, source_dir, trends, alarms, axis, metric, i)
        .add(machines[i], machines.size() > 1 ? machines[i] : "", i > 0);
  }
  const fs::path page = folder / page_name(metric, only);
  write_page_file(page, std::move(file), source_dir);
  console << "trend: " << page.string() << '\n';
}

}  // namespace harness
