// Grid: a table of any content, and how it looks on a console, as Markdown and in the page; what it holds as
// CSV.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace harness {

struct GridColumn {
  std::string header;    // with its unit, `total s`
  bool is_text = false;  // left-aligned; figures stand on the right
  // Stands in the console too. One column of a grid may be cut there to what the console has room for.
  bool may_shrink = false;
  // Text wider than this is continued on further lines of the console; 0: on one line, however long.
  size_t wrap_at = 0;
};

// A figure as programs read it: nothing where there is none.
struct Reading {
  std::optional<double> value, low, high;  // this run's, and its range or interval
  std::optional<double> article;           // what the article states of the same
};

// One cell for programs.
struct GridValue {
  std::string row, quantity;
  std::string unit = "text";
  std::string text = {};  // where the unit is `text`, in place of a figure
  Reading figure = {};
};

struct Grid {
  std::string title;
  std::vector<std::string> above;  // what a reader must know first: scale, marks
  std::vector<GridColumn> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns; "-" where there is no figure
  std::vector<std::string> notes;              // below: what the columns and marks mean
  std::vector<GridValue> values;               // what the cells hold, for CSV

  bool empty() const { return rows.empty(); }
};

// Lines of at most 120 columns where cells allow it, a line feed at the end of each; empty for an empty grid.
std::string console_text(const Grid& grid);
// GitHub's Markdown, under a heading of this level.
std::string markdown_text(const Grid& grid, int level = 3);
// The values of all grids as one table in long form (RFC 4180), a line each under the columns
// table,row,quantity,unit,value,low,high,article; what is not known is empty.
std::string csv_text(const std::vector<Grid>& grids);
// Above 0; nothing otherwise, because zero stands for an absent figure in records.
std::optional<double> if_any(double figure);
nlohmann::json grid_json(const Grid& grid);  // {title, above, columns: [{header, text}], rows, notes}

// Columns that a text takes, and the text padded or cut to `width` of them.
size_t width_of(const std::string& text);
std::string fit(const std::string& text, size_t width);
// Words continued on further lines, each after `indent`.
std::string wrap(const std::string& text, size_t width, const std::string& indent);
// Text of a record on one line: it may hold anything that a crashed process printed.
std::string one_line(std::string text);
std::string escape_markdown(const std::string& text);
// One cell of a CSV file: quoted as RFC 4180 says, and with a leading apostrophe, as OWASP advises, where a
// spreadsheet would take text of a user's for a formula. Every CSV of the suite is written through it.
std::string csv_cell(const std::string& text);

inline constexpr size_t kConsoleWidth = 120;

}  // namespace harness
