// Builds each table by its kind: figures by row, the platform, and lines of text with ratios.
#include "harness/report/article_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/config/config.h"
#include "harness/config/nearest.h"
#include "harness/report/claim_question.h"
#include "harness/report/grids.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

// Of the first row's total to the second's, also if neither is the other's base.
Names ratio_line(const Summary& summary, const TableNote& note) {
  if (note.rows.size() != 2)
    throw ConfigError(note.origin, "a ratio is of two rows", "rows: [BASE, ROW]",
                      fmt::format("{} rows", note.rows.size()));
  const SummaryRow *base = find_row(summary, note.rows[0]), *row = find_row(summary, note.rows[1]);
  if (!base || !row || !base->ok() || !row->ok() || base->run.batches != row->run.batches ||
      base->config.window != row->config.window)
    return {};
  const Ratio ratio = total_ratio(summary, *base, *row);
  if (!ratio.known()) return {};
  const double there = base->config.published_s, here = row->config.published_s;
  return {fmt::format("{} / {} here: {}{}{}{}{}", base->id, row->id, text_of(ratio),
                      there > 0 && here > 0 ? fmt::format(", {:.2f} in the article", there / here) : "",
                      is_by_construction(*row->record) ? fmt::format(" ({} is emulated)", row->id) : "",
                      note.text.empty() ? "" : "; ", note.text)};
}

// Where the first of the rows ran, and its settings.
Grid platform_grid(const Summary& summary, const MatrixTable& table) {
  Grid grid;
  const auto rows = rows_of(summary, table.rows);
  if (rows.empty()) return grid;
  const SummaryRow& row = *rows.front();
  grid.title = table.title;
  grid.above = lines_above(summary);
  grid.columns = {{"of row " + row.id, true}, {"here", true}};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (value.empty() || value == "-") return;
    grid.rows.push_back({name, value});
    grid.values.push_back({row.id, name, "text", value});
  };
  for (const auto& [name, value] : environment_facts({*row.record})) add(name, value);
  for (const TableColumn& written : table.columns)
    add(written.header, column_of(summary, written).cell(&row));
  return grid;
}

Grid grid_of(const Summary& summary, const MatrixTable& table) {
  if (table.layout != "platform" && table.layout != "accuracy") return article_grid(summary, table);
  Grid grid =
      table.layout == "platform" ? platform_grid(summary, table) : accuracy_grid(summary, table.title);
  for (const TableNote& note : table.notes)
    for (const std::string& line : lines_of(summary, note)) grid.notes.push_back(line);
  return grid;
}

}  // namespace

Names lines_of(const Summary& summary, const TableNote& note) {
  if (note.of.empty()) return {note.text};
  if (note.of == "ratio") return ratio_line(summary, note);
  require_known(note.origin, "note", note.of, {"ratio", "SyncBN"});
  return sync_bn_texts(summary);
}

std::vector<Grid> grids_of(const Summary& summary, const std::vector<MatrixTable>& tables) {
  std::vector<Grid> grids;
  for (const MatrixTable& table : tables)
    if (Grid grid = grid_of(summary, table); !grid.empty()) grids.push_back(std::move(grid));
  return grids;
}

std::vector<Grid> article_tables(const Summary& summary) {
  Summary of_article = summary;
  std::erase_if(of_article.rows, [](const SummaryRow& row) { return row.config.identity == "own"; });
  if (of_article.rows.empty() && of_article.accuracy.empty()) return {};
  return grids_of(of_article, article_matrix().tables);
}

std::vector<Grid> own_tables(const Summary& summary) {
  return summary.own ? grids_of(summary, summary.own->tables) : std::vector<Grid>();
}

}  // namespace harness
