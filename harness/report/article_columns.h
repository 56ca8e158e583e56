// Rows and columns of the article's tables: finding rows, marking inferred settings, ratios.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/ratio.h"
#include "harness/report/summary/summary.h"

namespace harness {

struct ArticleColumn {
  // run: only for OK rows; total: shows the status of other rows; config: a setting, also for failed rows.
  enum class Of { run, total, config };

  GridColumn column;
  std::function<std::string(const SummaryRow&)> cell;
  Of of = Of::run;
  bool optional = false;  // left out if no row has a cell
  // For CSV. Without `reading` the cell is text; without `quantity` the header names it.
  std::string quantity = {}, unit = "text";
  std::function<Reading(const SummaryRow&)> reading = {};
  bool only_read = false;  // not in CSV, because another column's reading contains the figure
};

// The row of the article's matrix with this id; null if it was not run.
const SummaryRow* article_row(const Summary& summary, const std::string& id);
bool any_article_row(const Summary& summary, const std::vector<std::string>& ids);

std::string setting_of(const SummaryRow& row, const std::string& field);  // as text, empty when absent

// The row's base, if both have figures for the same number of batches in the same window; otherwise null.
const SummaryRow* comparable_base(const Summary& summary, const SummaryRow& row);

std::string row_mark(const SummaryRow& row);  // the id, with ~ if its identity is inferred, E if emulated
bool is_inferred(const SummaryRow& row, const std::string& field);           // the article does not state it
std::string inferred_mark(const SummaryRow& row, const std::string& field);  // `~` or nothing
std::string article_number(double value);                                    // about four digits; "-" for 0
// The article's ms of a phase in this row's batch; 0 if it states none. The phase clock measures host time,
// so a CPU is compared with the article's kernel times, a GPU with its launch times. The phases of an
// emulated device are times of its own and compared with kernel times.
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
// Columns: ratio to the base, the base, the article's ratio, and the verdict about the two. Only rows whose
// base is in the same table have them, so each ratio is in one table. `equal`: rows that the article calls
// equal to their base.
std::vector<ArticleColumn> ratio_columns(const Summary& summary, const std::vector<std::string>& ids,
                                         const std::vector<std::string>& equal = {});

std::vector<ArticleColumn> joined(std::vector<ArticleColumn> first, const std::vector<ArticleColumn>& then);

}  // namespace harness
