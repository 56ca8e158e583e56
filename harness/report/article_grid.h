// A table of the article: all its rows, also those that were not run, its columns, and common notes.
#pragma once
#include <string>
#include <vector>

#include "harness/report/article_columns.h"

namespace harness {

struct ArticleTable {
  std::string title;
  std::vector<std::string> rows;      // by id, in the table's order
  std::vector<std::string> subjects;  // the rows that it is about; without any of them there is no table
  std::vector<ArticleColumn> columns;
  std::vector<std::string> notes;  // specific to this table
};

// A row that failed or was not run has its status instead of the total, and no figures.
Grid article_grid(const Summary& summary, const ArticleTable& table);

// Explains the brackets of these ratios and, with `verdict`, the verdicts.
std::string interval_note(const std::vector<Ratio>& ratios, bool verdict);
// Lines above every table: the scale and its mark, and what --set changed.
std::vector<std::string> lines_above(const Summary& summary);
// The rows' field `published_note`: `about 8, 9: ...`.
std::vector<std::string> published_notes(const Summary& summary, const std::vector<std::string>& ids);

}  // namespace harness
