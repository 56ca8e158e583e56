// Formats the figures of a summary as columns and text. Every number comes from summary.h.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/report/grids.h"
#include "harness/report/metrics.h"
#include "harness/report/summary/summary.h"

namespace harness {
namespace {

bool any_repeats(const Summary& summary) {
  return std::ranges::any_of(summary.rows, [](const SummaryRow& row) { return row.repeats > 1; });
}

// Phases as grouped here. Together the groups are the whole step.
struct PhaseGroup {
  const char* name;
  Names phases;

  double share(const RunStatistics& run) const {
    double sum = 0;
    for (const PhaseStatistics& phase : run.phases)
      if (std::ranges::find(phases, phase.name) != phases.end()) sum += phase.share;
    return sum;
  }
};

std::vector<PhaseGroup> shown_groups(const Summary& summary) {
  std::vector<PhaseGroup> groups = {{"load", {"load"}},    {"move", {"h2d", "scatter", "broadcast"}},
                                    {"fwd", {"forward"}},  {"loss", {"gather", "loss"}},
                                    {"bwd", {"backward"}}, {"comm", {"reduce", "sync"}},
                                    {"step", {"step"}},    {"other", {"other"}}};
  std::erase_if(groups, [&](const PhaseGroup& group) {
    return std::ranges::none_of(summary.rows, [&](const auto& row) { return group.share(row.run) >= 0.005; });
  });
  return groups;
}

// The interval as ± its wider half.
std::string median_cell(const RunStatistics& run) {
  if (!run.has_samples) return "-";
  if (!run.median_ci_ms) return four_digits(run.median_ms);
  const double half = std::max(run.median_ms - run.median_ci_ms->low, run.median_ci_ms->high - run.median_ms);
  return fmt::format("{} ±{:.1f}%", four_digits(run.median_ms), 100 * half / run.median_ms);
}

std::string ratio_cell(const SummaryRow& row) {
  if (!row.ratio) return "-";
  const std::string base = row.config.base;
  return fmt::format("{:.2f}{}{}{}{} {}", *row.ratio, row.batch_differs ? "*" : "",
                     row.window_differs ? "!" : "", row.ratio_of_some_rounds ? "'" : "",
                     row.ratio_undisturbed ? "\"" : "", width_of(base) > 8 ? fit(base, 8) : base);
}

struct CellColumn {
  std::string header;
  std::function<std::string(const SummaryRow&)> cell;
  bool is_text = false;  // left-aligned
};

// Metrics with a header get a column, in the order of the metrics; a few columns combine several metrics.
std::vector<CellColumn> columns_of(const Summary& summary) {
  std::vector<CellColumn> columns;
  for (const Metric& metric : metrics()) {
    if (metric.name == "total_min_s" && any_repeats(summary)) {
      columns.push_back({"[min max]", [](const SummaryRow& row) -> std::string {
                           if (row.repeats_ok < 2) return "-";
                           return fmt::format("[{} {}]", four_digits(row.total_min_s),
                                              four_digits(row.total_max_s));
                         }});
    } else if (metric.name == "ratio_to_base") {
      for (const PhaseGroup& group : shown_groups(summary))
        columns.push_back({group.name, [group](const SummaryRow& row) -> std::string {
                             return row.run.has_samples ? fmt::format("{:.0f}", 100 * group.share(row.run))
                                                        : "-";
                           }});
      columns.push_back({"median ms", [](const SummaryRow& row) { return median_cell(row.run); }, true});
      columns.push_back({"ratio to", ratio_cell, true});
    } else if (!metric.header.empty() && metric.text) {  // without a text in any row there is no column
      const auto cell = [&metric, &summary](const SummaryRow& row) { return metric.text(summary, row); };
      if (std::ranges::any_of(summary.rows, [&](const SummaryRow& row) { return !cell(row).empty(); }))
        columns.push_back({metric.header, cell, true});
    } else if (!metric.header.empty() &&
               (!metric.only_where_known || std::ranges::any_of(summary.rows, [&](const SummaryRow& row) {
                 return row.ok() && metric.figure(row);
               }))) {
      columns.push_back({metric.header, [&metric](const SummaryRow& row) { return cell_text(metric, row); }});
    }
  }
  return columns;
}

}  // namespace

static std::string codes_of(const SummaryRow& row) {
  std::string codes;
  for (const Flag& flag : row.flags)
    if (codes.find(flag.code) == std::string::npos) codes += flag.code;
  return codes;
}

Grid matrix_grid(const Summary& summary) {
  const std::vector<CellColumn> columns = columns_of(summary);
  Grid grid;
  grid.title = summary.timed_batches.empty()
                   ? "no batch was timed"
                   : fmt::format("seconds per {} timed batches", summary.timed_batches);
  grid.columns = {{"row", true}, {"what", true, true}};
  for (const CellColumn& column : columns) grid.columns.push_back({column.header, column.is_text});
  grid.columns.push_back({"flags", true});
  for (const SummaryRow& row : summary.rows) {
    std::vector<std::string>& line = grid.rows.emplace_back();
    line = {row.id, row.title};
    if (!row.ok()) {
      line.push_back(row.status + ": " + row.reason);
      continue;
    }
    for (const CellColumn& column : columns) line.push_back(column.cell(row));
    line.push_back((row.cache.empty() || row.cache == "none" ? "" : row.cache + " ") + codes_of(row));
  }
  grid.notes = legend_lines(summary);
  return grid;
}

Grid remarks_in_words(const Summary& summary) {
  Grid grid;
  grid.title = "what ran in each row, and its remarks";
  grid.columns = {{"row", true}, {"ran", true}, {"remarks", true, true}};
  for (const SummaryRow& row : summary.rows)
    if (row.ok()) grid.rows.push_back({row.id, row.ran, csv_text(metric("flags"), summary, row)});
  return grid;
}

std::vector<std::string> header_lines(const Summary& summary) {
  std::vector<std::string> lines;
  const std::string scale = summary.scale_summary.empty() ? summary.scale : summary.scale_summary;
  if (summary.mark.empty())
    lines.push_back(fmt::format("Scale article: {}", scale));
  else
    lines.push_back(fmt::format("{}, {}: {}", summary.mark,
                                summary.scale == "smoke" ? "a test of the program, not a result"
                                                         : "not the article's hardware or sizes",
                                scale));
  if (scale.find("C0") != std::string::npos)
    lines.back() += " cores and as many loader threads in rows with one C0";
  lines.push_back(fmt::format("{}: {}", summary.device, summary.machine));
  lines.push_back(summary.build + (summary.data.empty() ? "" : "; data: " + summary.data));
  if (!summary.set.empty()) lines.push_back("Set by hand in every row (--set): " + summary.set);
  if (const std::string sentence = trained_sentence(summary); !sentence.empty()) lines.push_back(sentence);
  if (!summary.inferred.empty())
    lines.push_back("Inferred in every row, not stated by the article: " + summary.inferred);
  return lines;
}

std::vector<std::string> legend_lines(const Summary& summary) {
  if (std::ranges::none_of(summary.rows, &SummaryRow::ok)) return {};  // there are only reasons
  std::vector<std::string> lines = {
      fmt::format("s: seconds for {} timed batches{}. Phases (load ..): % of the step{}; move = h2d + "
                  "scatter + broadcast, loss includes gather, comm = reduce + sync.",
                  summary.timed_batches, any_repeats(summary) ? ", median of the repeats [min max]" : "",
                  any_repeats(summary) ? ", of the median repeat" : "")};
  lines.push_back(fmt::format(
      "±: 95 % interval of the median within one run, not for comparisons. ratio: seconds of the base / "
      "seconds of the row (above 1 = faster){}; article: the ratio of the article's figures.",
      any_repeats(summary) ? ", the mean of the runs' logarithms, not the quotient of the medians" : ""));
  std::string codes;
  bool batch = false, window = false, rounds = false, undisturbed = false;
  for (const SummaryRow& row : summary.rows) {
    if (row.ok()) codes += codes_of(row);
    batch |= row.ratio && row.batch_differs;
    window |= row.ratio && row.window_differs;
    rounds |= row.ratio_of_some_rounds;
    undisturbed |= row.ratio_undisturbed;
  }
  if (batch) lines.push_back("* the base has another batch size: the ratio compares batches, not images.");
  if (rounds)
    lines.push_back(
        "' of the rounds that both ran, because the machine's speed changes between rounds: it is not that "
        "of the seconds shown.");
  if (undisturbed)
    lines.push_back(
        "\" of the seconds less the share of processor time that others took: it is not that of the seconds "
        "shown.");
  if (window) lines.push_back("! the base was timed in another window.");
  for (char code : std::set<char>(codes.begin(), codes.end()))
    lines.push_back(fmt::format("flag {}: {}", code, flag_meaning(code)));
  return lines;
}

}  // namespace harness
