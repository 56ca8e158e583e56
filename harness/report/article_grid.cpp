#include "harness/report/article_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/base/comma_list.h"
#include "harness/report/against_article.h"
#include "harness/report/cells.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

std::vector<std::string> cells_of(const ArticleTable& table, const std::string& id, const SummaryRow* row) {
  std::vector<std::string> cells = {row ? row_mark(*row) : id};
  for (const ArticleColumn& column : table.columns) {
    const bool known = row && (row->ok() || column.of == ArticleColumn::Of::config);
    if (known)
      cells.push_back(column.cell(*row));
    else if (column.of == ArticleColumn::Of::total)
      cells.push_back(row ? row->status : "not run");
    else
      cells.push_back("-");
  }
  return cells;
}

// The same cells for article.csv. A row without figures still has the article's figures.
void add_values(const std::vector<ArticleColumn>& columns, const std::string& id, const SummaryRow* row,
                std::vector<GridValue>& values) {
  values.push_back({id, "status", "text", row ? row->status : "not run"});
  for (const ArticleColumn& column : columns) {
    if (column.only_read) continue;
    GridValue value{id, column.quantity.empty() ? column.column.header : column.quantity, column.unit};
    const bool known = row && (row->ok() || column.of == ArticleColumn::Of::config);
    if (column.reading && row) value.figure = column.reading(*row);
    if (!known) value.figure = {{}, {}, {}, value.figure.article};
    if (!column.reading && known) value.text = column.cell(*row);
    if (value.text == "-") value.text.clear();
    values.push_back(std::move(value));
  }
}

// `... 100-399, inferred for 10, 12`; if there are two windows, with the rows of each.
std::string windows_line(const std::vector<const SummaryRow*>& rows) {
  std::map<std::string, std::vector<std::string>> ids, inferred;
  for (const SummaryRow* row : rows) {
    const std::string window = setting_of(*row, "window");
    ids[window].push_back(row->id);
    if (is_inferred(*row, "window")) inferred[window].push_back(row->id);
  }
  std::vector<std::string> parts;
  for (const auto& [window, members] : ids) {
    std::string part = window;
    if (ids.size() > 1) part += fmt::format(" of {}", fmt::join(members, ", "));
    if (inferred[window].size() == members.size())
      part += ", inferred";
    else if (!inferred[window].empty())
      part += fmt::format(", inferred for {}", fmt::join(inferred[window], ", "));
    parts.push_back(part);
  }
  return fmt::format("Batches that the article timed: {}{}", fmt::join(parts, "; "),
                     ids.size() > 1 ? ": no ratios between the two windows" : "");
}

// `8, 9: the same text`, in the order of the rows; rows without a text are left out.
std::vector<std::string> by_text(const std::vector<const SummaryRow*>& rows,
                                 const std::function<std::string(const SummaryRow&)>& text_of_row) {
  std::vector<std::pair<std::string, std::vector<std::string>>> texts;
  for (const SummaryRow* row : rows) {
    const std::string text = text_of_row(*row);
    if (text.empty()) continue;
    auto place = std::find_if(texts.begin(), texts.end(), [&](const auto& it) { return it.first == text; });
    if (place == texts.end()) place = texts.insert(texts.end(), {text, {}});
    place->second.push_back(row->id);
  }
  std::vector<std::string> lines;
  for (const auto& [text, ids] : texts) lines.push_back(fmt::format("{}: {}", fmt::join(ids, ", "), text));
  return lines;
}

std::string failure_of(const SummaryRow& row) {
  if (row.ok()) return "";
  return row.status + (row.reason.empty() ? "" : ": " + one_line(row.reason));
}

// Fields inferred for this row only. `window` and `published_s` are marked elsewhere in the table.
std::string inferred_of(const Summary& summary, const SummaryRow& row) {
  std::vector<std::string> left;
  const std::vector<std::string> everywhere = base::split_at_commas(summary.inferred);
  for (const std::string& field : base::split_at_commas(setting_of(row, "inferred")))
    if (field != "window" && field != "published_s" &&
        std::find(everywhere.begin(), everywhere.end(), field) == everywhere.end())
      left.push_back(field);
  return left.empty() ? "" : fmt::format("{} inferred", fmt::join(left, ", "));
}

std::string emulation_of(const SummaryRow& row) {
  std::vector<std::string> texts;
  if (row.ok())
    for (const std::string& setting : row.record->emulated) texts.push_back("emulated " + setting);
  return fmt::format("{}", fmt::join(texts, ", "));
}

void append_cells(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

void explain_ratios(const Summary& summary, const std::vector<const SummaryRow*>& rows, Grid& grid) {
  std::vector<Ratio> ratios;
  bool batch = false, verdict = false;
  for (const SummaryRow* row : rows)
    if (const SummaryRow* base = comparable_base(summary, *row);
        base && std::find(rows.begin(), rows.end(), base) != rows.end()) {
      ratios.push_back(total_ratio(summary, *base, *row));
      batch = batch || row->batch_differs;
      verdict = verdict || row->published_ratio;
    }
  if (ratios.empty()) return;
  grid.notes.push_back("base / row: total of the base / total of the row, above 1 = faster. " +
                       interval_note(ratios, verdict));
  if (batch)
    grid.notes.push_back("* the base has another batch size: the ratio compares batches, not images.");
}

void explain_marks(const Summary& summary, const std::vector<const SummaryRow*>& rows, Grid& grid) {
  bool inferred = false;
  for (const auto& row : grid.rows)
    for (const std::string& cell : row) inferred = inferred || cell.find('~') != std::string::npos;
  std::vector<std::string> weakly;
  for (const SummaryRow* row : rows)
    if (setting_of(*row, "identity") == "weakly inferred") weakly.push_back(row->id);
  if (inferred)
    grid.notes.push_back("~ not stated by the article, inferred from its text" +
                         (weakly.empty() ? "" : fmt::format("; weakly: {}", fmt::join(weakly, ", "))));
  append_cells(grid.notes, by_text(rows, [&](const SummaryRow& row) { return inferred_of(summary, row); }));
  const std::vector<std::string> emulated = by_text(rows, emulation_of);
  if (!emulated.empty()) grid.notes.push_back("E " + flag_meaning('E'));
  append_cells(grid.notes, emulated);
}

// Removes optional columns without any cell.
void drop_empty_columns(std::vector<ArticleColumn>& columns, Grid& grid) {
  for (size_t i = columns.size(); i > 0; --i) {
    const bool used = !columns[i - 1].optional || std::any_of(grid.rows.begin(), grid.rows.end(),
                                                              [&](const auto& row) { return row[i] != "-"; });
    if (used) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    columns.erase(columns.begin() + at - 1);
    grid.columns.erase(grid.columns.begin() + at);
    for (auto& row : grid.rows) row.erase(row.begin() + at);
  }
}

}  // namespace

std::vector<std::string> lines_above(const Summary& summary) {
  std::vector<std::string> lines = {header_lines(summary).front()};
  if (!summary.set.empty()) lines.push_back("Set by hand in every row (--set): " + summary.set);
  return lines;
}

std::vector<std::string> published_notes(const Summary& summary, const std::vector<std::string>& ids) {
  std::vector<const SummaryRow*> rows;
  for (const std::string& id : ids)
    if (const SummaryRow* row = article_row(summary, id)) rows.push_back(row);
  std::vector<std::string> lines =
      by_text(rows, [](const SummaryRow& row) { return one_line(setting_of(row, "published_note")); });
  for (std::string& line : lines) line = "about " + line;
  return lines;
}

std::string interval_note(const std::vector<Ratio>& ratios, bool verdict) {
  const auto any = [&](auto is_one) { return std::any_of(ratios.begin(), ratios.end(), is_one); };
  std::string note;
  if (any([](const Ratio& it) { return it.runs >= kFewestRuns; }))
    note +=
        fmt::format("In brackets: the exact 95 % interval over {} or more runs of each row. ", kFewestRuns);
  if (any([](const Ratio& it) { return it.pooled || it.own_scatter; })) note += std::string(kPooled) + ' ';
  if (any([](const Ratio& it) { return !it.decides(); }))
    note += fmt::format(
        "Without an interval (in brackets: the range) there is no verdict: it takes {} runs of "
        "each row, or repeats of rows of its kind (--repeat 2). ",
        kFewestRuns);
  else if (verdict)
    note += fmt::format("reproduced: the article's ratio lies in the interval widened by {:.0f} %. ",
                        100 * kArticleMargin);
  return note.substr(0, note.size() - 1);
}

Grid article_grid(const Summary& summary, const ArticleTable& table) {
  Grid grid;
  if (!any_article_row(summary, table.subjects)) return grid;
  grid.title = table.title;
  grid.columns = {{"row", true}};
  for (const ArticleColumn& column : table.columns) grid.columns.push_back(column.column);
  std::vector<const SummaryRow*> rows;
  for (const std::string& id : table.rows) {
    const SummaryRow* row = article_row(summary, id);
    if (row) rows.push_back(row);
    grid.rows.push_back(cells_of(table, id, row));
  }
  std::vector<ArticleColumn> columns = table.columns;
  drop_empty_columns(columns, grid);
  for (const std::string& id : table.rows) add_values(columns, id, article_row(summary, id), grid.values);
  grid.above = lines_above(summary);
  grid.above.push_back(windows_line(rows));
  grid.notes.push_back(fmt::format(
      "total s: {} timed batches, median of the runs; phases: mean ms per batch.", summary.timed_batches));
  append_cells(grid.notes, table.notes);
  explain_ratios(summary, rows, grid);
  append_cells(grid.notes, published_notes(summary, table.subjects));
  explain_marks(summary, rows, grid);
  append_cells(grid.notes, by_text(rows, failure_of));
  return grid;
}

}  // namespace harness
