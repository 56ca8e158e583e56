// A table of the article's: its rows whether run or not, its columns, and the notes that all of them need.
#pragma once
#include <string>
#include <vector>

#include "harness/report/article_columns.h"

namespace harness {

struct ArticleTable {
  std::string title;
  std::vector<std::string> rows;      // by id, in the table's order
  std::vector<std::string> subjects;  // the rows that it is about: none of them run, no table
  std::vector<ArticleColumn> columns;
  std::vector<std::string> notes;  // before those that every table has
};

// A row that is missing or failed says so in place of its total, and has no figures.
Grid article_grid(const Summary& summary, const ArticleTable& table);

// What the brackets of a ratio hold, where the fewest runs behind one are these, and what the verdict means.
std::string interval_note(size_t runs, bool verdict);
// Lines above every table: the scale and its mark, and what --set changed.
std::vector<std::string> lines_above(const Summary& summary);
// What the article says of these rows, or we of that: `about 8, 9: ...`.
std::vector<std::string> published_notes(const Summary& summary, const std::vector<std::string>& ids);

}  // namespace harness
