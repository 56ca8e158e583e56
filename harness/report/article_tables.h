// The tables that a matrix describes, from records of its rows: their columns, found by the names in its
// file, and its rows beside their bases and the article.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "harness/config/tables.h"
#include "harness/report/summary/grid.h"
#include "harness/report/summary/ratio.h"
#include "harness/report/summary/summary.h"

namespace harness {

struct ArticleColumn {
  // run: only for OK rows; total: shows the status of other rows; config: a setting, also for failed rows.
  enum class Of { run, total, config };

  std::string quantity = {}, unit = "text";  // for CSV
  Of of = Of::run;
  // One of the two is set, or both for a setting with a mark. For a row without figures the reading is the
  // article's.
  std::function<std::string(const SummaryRow&)> text = {};
  std::function<Reading(const SummaryRow&)> reading = {};
  std::function<Ratio(const SummaryRow& base, const SummaryRow& row)> ratio = {};  // null: it has none
  GridColumn head = {};
  bool optional = false;

  bool shows(const SummaryRow& row) const { return row.ok() || of == Of::config; }
  std::string cell(const SummaryRow* row) const;  // `-` for what there isn't; the status in a total's column
};

// `total`; a phase, or a list of them; `PHASE on the host` (until the next phase begins) and `PHASE on the
// device` (in its queue); a field, or `FIELD in C0`; a metric. The column refers to `summary`. Throws
// ConfigError for another name and for a unit that it doesn't have.
ArticleColumn column_of(const Summary& summary, const TableColumn& written);

// A row beside its base in one column, if the base is in the same table, so that each ratio is in one table.
struct BesideBase {
  // Ratio, base, the article's ratio, and the verdict about the two; `-` for what there isn't.
  std::vector<std::string> cells = {"-", "-", "-", "-"};
  Reading reading = {};
};
BesideBase beside_base(const Summary& summary, const MatrixTable& table, const ArticleColumn& column,
                       const SummaryRow& row);

// Those of the ids that were run.
std::vector<const SummaryRow*> rows_of(const Summary& summary, const std::vector<std::string>& ids);

std::string row_mark(const SummaryRow& row);  // the id, with ~ if its identity is inferred, E if emulated
bool is_inferred(const SummaryRow& row, const std::string& field);  // the article does not state it
std::string article_number(double value);                           // about four digits; "-" for 0

// In words, within kArticleMargin: where the interval of `here` lies beside the article's ratio `point`, or
// beside 1 for rows that the article calls equal. `-` if one of the figures is missing.
std::string against_article(const Ratio& here, double point);
std::string against_equal(const Ratio& here);

// Those of which at least one row was run. Times are means per batch over ranks and batches. A row that
// failed or was not run has its status instead of the total, and no figures. Throws ConfigError as
// column_of() and lines_of() do.
std::vector<Grid> grids_of(const Summary& summary, const std::vector<MatrixTable>& tables);

// Those of the article's matrix, configs/article.yaml; none for rows of other matrices.
std::vector<Grid> article_tables(const Summary& summary);
std::vector<Grid> own_tables(const Summary& summary);  // those of the run's own matrices

// The lines that a note stands for; none if this run lacks a figure for it. Throws ConfigError for an unknown
// name of what is computed.
std::vector<std::string> lines_of(const Summary& summary, const TableNote& note);

// Lines above every table: the scale and its mark, and what --set changed.
std::vector<std::string> lines_above(const Summary& summary);

// A table of the layouts rows and columns.
Grid article_grid(const Summary& summary, const MatrixTable& table);

}  // namespace harness
