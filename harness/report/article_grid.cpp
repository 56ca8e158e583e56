// Lays out the article's tables with rows as lines or as columns, and adds ratios and notes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/article_tables.h"
#include "harness/report/grids.h"
#include "harness/report/metrics.h"

namespace harness {
namespace {

using Rows = std::vector<const SummaryRow*>;
using Columns = std::vector<ArticleColumn>;

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

// `8, 9: the same text`, in the order of the rows; rows without a text are left out.
std::vector<std::string> by_text(const Rows& rows,
                                 const std::function<std::string(const SummaryRow&)>& text_of_row) {
  RowsByText texts;
  for (const SummaryRow* row : rows)
    if (const std::string text = one_line(text_of_row(*row)); !text.empty()) add_text(texts, text, row->id);
  std::vector<std::string> lines;
  for (const auto& [text, ids] : texts) lines.push_back(fmt::format("{}: {}", fmt::join(ids, ", "), text));
  return lines;
}

// The same cells for article.csv. A row without figures still has the article's figures.
void add_values(const Columns& columns, const std::string& id, const SummaryRow* row,
                std::vector<GridValue>& values) {
  values.push_back({id, "status", "text", row ? row->status : "not run"});
  for (const ArticleColumn& column : columns) {
    if (column.quantity.empty()) continue;
    GridValue value{id, column.quantity, column.unit};
    if (column.reading && row) value.figure = column.reading(*row);
    if (!row || !column.shows(*row)) value.figure = {{}, {}, {}, value.figure.article};
    if (!column.reading) value.text = column.cell(row);
    values.push_back(std::move(value));
  }
}

// The ratios of totals, if there are totals.
void add_ratio_columns(const Summary& summary, const MatrixTable& table, Columns& columns) {
  const auto is_total = [](const ArticleColumn& column) { return column.of == ArticleColumn::Of::total; };
  const auto total = std::ranges::find_if(columns, is_total);
  if (total == columns.end()) return;
  const auto beside = [&summary, &table, total = *total](const SummaryRow& row) {
    return beside_base(summary, table, total, row);
  };
  const char* headers[] = {"base / row", "base", "article", "against the article"};
  for (size_t i = 0; i < 4; ++i) {
    ArticleColumn column{.quantity = headers[i], .head = {headers[i], i % 2 == 1}, .optional = true};
    column.text = [beside, i](const SummaryRow& row) { return beside(row).cells[i]; };
    if (i == 0)
      column.unit = "ratio", column.reading = [beside](const SummaryRow& row) { return beside(row).reading; };
    if (i == 2) column.quantity.clear();  // it is in that reading
    columns.push_back(std::move(column));
  }
}

// A line for each row.
void lay_out_rows(const Summary& summary, const MatrixTable& table, const Columns& columns, Grid& grid) {
  grid.columns = {{"row", true}};
  for (const ArticleColumn& column : columns) grid.columns.push_back(column.head);
  for (const std::string& id : table.rows) {
    const SummaryRow* row = find_row(summary, id);
    grid.rows.push_back({row ? row_mark(*row) : id});
    for (const ArticleColumn& column : columns) grid.rows.back().push_back(column.cell(row));
  }
}

// A line for each column: the rows side by side with the article's figures, then the ratios of rows to their
// bases.
void lay_out_columns(const Summary& summary, const MatrixTable& table, const Columns& columns, Grid& grid) {
  grid.columns = {{"", true}};
  for (const ArticleColumn& column : columns) grid.rows.push_back({column.head.header});
  const auto add = [&](const GridColumn& head, const std::function<std::string(const ArticleColumn&)>& cell) {
    std::vector<std::string> cells;
    for (const ArticleColumn& column : columns) cells.push_back(cell(column));
    if (std::ranges::count(cells, "-") == long(cells.size())) return;
    grid.columns.push_back(head);
    for (size_t i = 0; i < cells.size(); ++i) grid.rows[i].push_back(cells[i]);
  };
  for (const std::string& id : table.rows) {
    const SummaryRow* row = find_row(summary, id);
    add({row ? row_mark(*row) : id}, [&](const ArticleColumn& column) { return column.cell(row); });
    add({"article"}, [&](const ArticleColumn& column) {
      return row && column.reading ? article_number(column.reading(*row).article.value_or(0)) : "-";
    });
  }
  for (const SummaryRow* row : rows_of(summary, table.rows)) {
    const auto beside = [&](const ArticleColumn& column) {
      return beside_base(summary, table, column, *row);
    };
    add({row->config.base + " / " + row->id}, [&](const ArticleColumn& it) { return beside(it).cells[0]; });
    add({"article"}, [&](const ArticleColumn& it) { return beside(it).cells[2]; });
    add({"against the article", true}, [&](const ArticleColumn& it) { return beside(it).cells[3]; });
    for (const ArticleColumn& column : columns)
      if (const BesideBase it = beside(column); it.cells[1] != "-") {
        grid.values.push_back({row->id, column.quantity + ", base / row", "ratio", "", it.reading});
        grid.values.push_back({row->id, column.quantity + ", against the article", "text", it.cells[3]});
      }
  }
}

// What words and marks in a table mean.
std::string meanings(bool of_article) {
  std::string text = fmt::format(
      "base / row: time of the base / time of the row, above 1 = faster. In brackets: the exact 95 % "
      "interval over {0} or more runs of each row, or {1} Otherwise the range, of which there is no verdict: "
      "it takes {0} runs, or repeats of rows of its kind (--repeat 2). ",
      kFewestRuns, kPooled);
  if (of_article)
    text += fmt::format("reproduced: the article's ratio lies in the interval widened by {:.0f} %. ",
                        100 * kArticleMargin);
  text += "* the base has another batch size: the ratio compares batches, not images. ";
  if (of_article) text += "~ not stated by the article, inferred from its text. ";
  return text + fmt::format("E {}.", flag_meaning('E'));
}

}  // namespace

std::vector<std::string> lines_above(const Summary& summary) {
  std::vector<std::string> lines = {header_lines(summary).front()};
  if (!summary.set.empty()) lines.push_back("Set by hand in every row (--set): " + summary.set);
  return lines;
}

Grid article_grid(const Summary& summary, const MatrixTable& table) {
  Grid grid;
  const Rows rows = rows_of(summary, table.rows), about = rows_of(summary, table.about);
  const bool by_row = table.layout == "rows";
  Columns columns;
  for (const TableColumn& written : table.columns) columns.push_back(column_of(summary, written));
  if (by_row) add_ratio_columns(summary, table, columns);
  std::erase_if(columns, [&](const ArticleColumn& column) {
    return (column.optional || !by_row) &&
           std::ranges::all_of(rows, [&](const SummaryRow* row) { return column.cell(row) == "-"; });
  });
  const bool has_ratios = std::ranges::any_of(columns, [](const auto& it) { return bool(it.ratio); });
  if (has_ratios && !summary.timed_batches.empty())
    grid.notes.push_back(fmt::format(
        "total s: {} timed batches, median of the runs; phases: mean ms per batch.", summary.timed_batches));
  for (const TableNote& note : table.notes) append(grid.notes, lines_of(summary, note));
  if (about.empty() || columns.empty()) return {};
  grid.title = table.title;
  for (const std::string& id : table.rows) add_values(columns, id, find_row(summary, id), grid.values);
  (by_row ? lay_out_rows : lay_out_columns)(summary, table, columns, grid);
  const auto windows = by_text(rows, [](const SummaryRow& row) { return row.config.window; });
  grid.above = lines_above(summary);
  const bool of_article =
      std::ranges::any_of(rows, [](const SummaryRow* row) { return row->config.identity != "own"; });
  if (of_article)
    grid.above.push_back(fmt::format("Batches that the article timed: {}{}", fmt::join(windows, "; "),
                                     windows.size() > 1 ? ": no ratios between the two windows" : ""));
  if (has_ratios) grid.notes.push_back(meanings(of_article));
  for (const std::string& line :
       by_text(about, [](const SummaryRow& row) { return row.config.published_note; }))
    grid.notes.push_back("about " + line);
  append(grid.notes,
         by_text(rows, [&](const SummaryRow& row) { return csv_text(metric("flags"), summary, row); }));
  append(grid.notes, by_text(rows, [](const SummaryRow& row) {
           return row.ok() ? "" : row.status + (row.reason.empty() ? "" : ": " + row.reason);
         }));
  return grid;
}

}  // namespace harness
