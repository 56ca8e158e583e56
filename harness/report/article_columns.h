// Rows and columns that the article's tables are made of: finding rows, marking what is inferred, ratios
// beside the article's.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/ratio.h"
#include "harness/report/summary/summary.h"

namespace harness {

struct ArticleColumn {
  // Figures of an OK row; the total, where a row without figures says so; known of a failed row, too.
  enum class Of { run, total, config };

  GridColumn column;
  std::function<std::string(const SummaryRow&)> cell;
  Of of = Of::run;
  bool optional = false;  // left out where no row has a cell
  // For CSV. Without a reading the cell is text; without a quantity the header names it.
  std::string quantity = {}, unit = "text";
  std::function<Reading(const SummaryRow&)> reading = {};
  bool only_read = false;  // CSV has the figure with that of another column
};

// The row of the article's matrix with this id, null when it was not run.
const SummaryRow* article_row(const Summary& summary, const std::string& id);
bool any_article_row(const Summary& summary, const std::vector<std::string>& ids);

std::string setting_of(const SummaryRow& row, const std::string& field);  // as text, empty when absent

// The row that its config names as base, when both have figures of as many batches in the same window.
const SummaryRow* comparable_base(const Summary& summary, const SummaryRow& row);
// A setting of ours stands in for hardware: what follows from it is no finding.
bool is_by_construction(const SummaryRow& row);

std::string row_mark(const SummaryRow& row);  // id, ~ where its identity is inferred, E where emulated
bool is_inferred(const SummaryRow& row, const std::string& field);           // the article does not state it
std::string inferred_mark(const SummaryRow& row, const std::string& field);  // `~` or nothing
std::string article_number(double value);  // about four digits; "-" of nothing
// The article's ms of a phase in this row's batch, 0 where it states none. The phase clock takes host time:
// on a CPU that is the kernels' own, elsewhere what starting them took.
double published_phase_ms(const SummaryRow& row, const std::string& phase);
std::function<Reading(const SummaryRow&)> reading_of(std::function<double(const SummaryRow&)> figure);
Reading reading_of(const Ratio& ratio, double article);

ArticleColumn title_column();
ArticleColumn total_column();
ArticleColumn text_column(const std::string& header, std::function<std::string(const SummaryRow&)> cell);
// A setting: a number of this unit, or text.
ArticleColumn config_column(const std::string& header, const std::string& field,
                            const std::string& unit = "text");
ArticleColumn phase_column(const std::string& header, const std::vector<std::string>& phases);
// `quantity` names the figure in full, for CSV.
ArticleColumn figure_column(const std::string& header, const std::string& quantity, const std::string& unit,
                            std::function<double(const SummaryRow&)> figure);
// Ratio to the base, the base, the article's ratio, and what one may say of the two, for rows whose base
// stands in the same table: so each ratio stands in one. Rows in `equal` are those that the article calls
// equal to their base.
std::vector<ArticleColumn> ratio_columns(const Summary& summary, const std::vector<std::string>& ids,
                                         const std::vector<std::string>& equal = {});

std::vector<ArticleColumn> joined(std::vector<ArticleColumn> first, const std::vector<ArticleColumn>& then);

}  // namespace harness
