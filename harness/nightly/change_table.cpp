#include "harness/nightly/change_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/nightly/night.h"
#include "harness/nightly/trend_chart.h"

namespace harness {
namespace {

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

}  // namespace

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
                         point->change() > 0 ? "slower" : "faster", change_in_percent(*point),
                         figure_text(point->before, trend->canary), figure_text(point->after, trend->canary),
                         changes[i].since(), trend->nights[point->index], revisions(changes[i], nights),
                         cause(changes[i], trends)});
  }
  if (changes.size() > kMostChanges)
    grid.notes.push_back(fmt::format("{} older changes are left out", changes.size() - kMostChanges));
  grid.notes.push_back(
      "cause: the machine if a canary changed in the same direction at about the same night, otherwise the "
      "row's software or settings. before and after: means of the two levels.");
  return grid;
}

}  // namespace harness
