// Puts the figures of a summary into words and columns; every number comes from summary.h.
#include "harness/report/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/stats/records.h"

namespace harness {
namespace {

// About four digits, so that columns stay narrow at every scale.
std::string number(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}

bool any_repeats(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(),
                     [](const SummaryRow& row) { return row.repeats > 1; });
}

std::vector<const PhaseGroup*> shown_groups(const Summary& summary) {
  std::vector<const PhaseGroup*> shown;
  for (const PhaseGroup& group : phase_groups())
    for (const SummaryRow& row : summary.rows)
      if (group_share(row.run, group) >= 0.005) {
        shown.push_back(&group);
        break;
      }
  return shown;
}

// `narrow` leaves room for the title in a console: the interval as the wider of its halves.
std::string median_cell(const RunStatistics& run, bool narrow) {
  if (!run.has_samples) return "-";
  if (!run.median_ci_ms) return number(run.median_ms);
  const double half = std::max(run.median_ms - run.median_ci_ms->low, run.median_ci_ms->high - run.median_ms);
  if (narrow) return fmt::format("{} ±{:.1f}%", number(run.median_ms), 100 * half / run.median_ms);
  return fmt::format("{} [{} {}]", number(run.median_ms), number(run.median_ci_ms->low),
                     number(run.median_ci_ms->high));
}

std::string ratio_cell(const SummaryRow& row, bool narrow) {
  if (!row.ratio) return "-";
  const std::string base = row.config.base;
  return fmt::format("{:.2f}{}{} {}", *row.ratio, row.batch_differs ? "*" : "", row.window_differs ? "!" : "",
                     narrow && width_of(base) > 8 ? fit(base, 8) : base);
}

std::string flag_texts(const SummaryRow& row) {
  std::string texts;
  for (const Flag& flag : row.flags) texts += (texts.empty() ? "" : "; ") + flag.text;
  return texts;
}

}  // namespace

std::string codes_of(const SummaryRow& row) {
  std::string codes;
  for (const Flag& flag : row.flags)
    if (codes.find(flag.code) == std::string::npos) codes += flag.code;
  return codes;
}

Cells figure_cells(const Summary& summary, bool narrow) {
  const std::vector<const PhaseGroup*> groups = shown_groups(summary);
  const bool repeats = any_repeats(summary);
  Cells cells;
  const auto column = [&](const std::string& header, bool is_text = false) {
    cells.headers.push_back(header);
    cells.is_text.push_back(is_text);
  };
  column("s");
  if (repeats) column("[min max]");
  column("img/s");
  for (const PhaseGroup* group : groups) column(group->name);
  column(narrow ? "median ms" : "median ms [CI]", true);
  column("ratio to", true);
  column("article");
  for (const SummaryRow& row : summary.rows) {
    if (!row.ok()) continue;
    std::vector<std::string> line = {number(row.total_s)};
    if (repeats)
      line.push_back(row.repeats_ok > 1
                         ? fmt::format("[{} {}]", number(row.total_min_s), number(row.total_max_s))
                         : "-");
    line.push_back(fmt::format("{:.0f}", row.images_per_second));
    for (const PhaseGroup* group : groups)
      line.push_back(row.run.has_samples ? fmt::format("{:.0f}", 100 * group_share(row.run, *group)) : "-");
    line.push_back(median_cell(row.run, narrow));
    line.push_back(ratio_cell(row, narrow));
    line.push_back(row.published_ratio ? fmt::format("{:.2f}", *row.published_ratio) : "-");
    cells.rows.push_back(std::move(line));
  }
  return cells;
}

Grid matrix_grid(const Summary& summary) {
  const Cells cells = figure_cells(summary, false);
  Grid grid;
  grid.title = fmt::format("seconds per {} timed batches", summary.timed_batches);
  grid.columns = {{"row", true}, {"what", true}, {"ran", true}, {"cache", true}};
  for (size_t i = 0; i < cells.headers.size(); ++i)
    grid.columns.push_back({cells.headers[i], cells.is_text[i]});
  grid.columns.push_back({"flags", true, true});
  size_t next = 0;
  for (const SummaryRow& row : summary.rows) {
    std::vector<std::string> line = {row.id, row.title};
    if (row.ok()) {
      line.insert(line.end(), {row.ran, row.cache});
      line.insert(line.end(), cells.rows[next].begin(), cells.rows[next].end());
      ++next;
      line.push_back(flag_texts(row));
    } else {
      line.resize(4 + cells.headers.size());
      line[4] = row.status;
      line.push_back(row.reason);
    }
    grid.rows.push_back(std::move(line));
  }
  grid.notes = legend_lines(summary, false);
  return grid;
}

std::vector<std::string> header_lines(const Summary& summary) {
  std::vector<std::string> lines;
  const std::string scale = summary.scale_summary.empty() ? summary.scale : summary.scale_summary;
  if (summary.mark.empty())
    lines.push_back(fmt::format("Scale article: {}", scale));
  else
    lines.push_back(fmt::format(
        "{}, {}: {}", summary.mark,
        summary.scale == "smoke" ? "a test of the program, no result" : "not the article's hardware or sizes",
        scale));
  lines.push_back(fmt::format("{}: {}", summary.device, summary.machine));
  lines.push_back(summary.build + (summary.data.empty() ? "" : "; data: " + summary.data));
  if (!summary.set.empty()) lines.push_back("Set by hand in every row (--set): " + summary.set);
  if (!summary.inferred.empty())
    lines.push_back("Inferred in every row, not stated by the article: " + summary.inferred);
  return lines;
}

std::vector<std::string> legend_lines(const Summary& summary, bool narrow) {
  std::vector<std::string> lines = {
      fmt::format("s: seconds for {} timed batches{}. Phases (load ..): % of the step{}; move = h2d + "
                  "scatter + broadcast, "
                  "loss with gather, comm = reduce + sync.",
                  summary.timed_batches, any_repeats(summary) ? ", median of the repeats [min max]" : "",
                  any_repeats(summary) ? ", of the median repeat" : "")};
  lines.push_back(
      fmt::format("{}: 95 % interval of the median within one run, not for comparisons. ratio: seconds of "
                  "the base / seconds of the row (above 1 = faster); article: the same of its figures.",
                  narrow ? "±" : "[CI]"));
  std::string codes;
  bool batch = false, window = false;
  for (const SummaryRow& row : summary.rows) {
    if (row.ok()) codes += codes_of(row);
    batch |= row.ratio && row.batch_differs;
    window |= row.ratio && row.window_differs;
  }
  if (batch) lines.push_back("* the base has another batch size: the ratio is of batches, not of images.");
  if (window) lines.push_back("! the base was timed in another window.");
  if (narrow)
    for (char code : std::set<char>(codes.begin(), codes.end()))
      lines.push_back(fmt::format("{} {}", code, flag_meaning(code)));
  return lines;
}

}  // namespace harness
