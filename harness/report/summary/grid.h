// Grid: a table with any content, formatted for the console, as Markdown, for the page and as CSV.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace harness {

struct GridColumn {
  std::string header;       // with its unit, e.g. `total s`
  bool is_text = false;     // left-aligned; figures are right-aligned
  bool may_shrink = false;  // may be cut on the console to fit its width; at most one column of a grid
  size_t wrap_at = 0;       // wrap wider text on the console; 0: never
};

// A figure for programs; nullopt if there is none.
struct Reading {
  std::optional<double> value, low, high;  // this run's figure, and its range or interval
  std::optional<double> article;           // the article's figure for the same quantity
};

// One cell for programs.
struct GridValue {
  std::string row, quantity;
  std::string unit = "text";
  std::string text = {};  // used instead of `figure` if the unit is `text`; `-` as in a cell: none
  Reading figure = {};
};

struct Grid {
  std::string title;
  std::vector<std::string> above;  // lines above the table: scale, marks
  std::vector<GridColumn> columns;
  // "-" if there is no figure. Of a row with fewer cells than columns the last one takes the others' room.
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;  // lines below the table: meaning of columns and marks
  std::vector<GridValue> values;   // the content of the cells, for CSV

  bool empty() const { return rows.empty(); }
};

// Lines of at most kConsoleWidth columns if the cells allow it; empty for an empty grid.
std::string console_text(const Grid& grid);
// GitHub Markdown with a heading of this level; empty for an empty grid.
std::string markdown_text(const Grid& grid, int level = 3);
// The values of all grids as one table in long form (RFC 4180), one line per value, with the columns
// table,row,quantity,unit,value,low,high,article. Unknown cells are empty.
std::string csv_text(const std::vector<Grid>& grids);
// Nullopt for 0, which represents an absent figure, and below.
std::optional<double> if_any(double figure);
nlohmann::json grid_json(const Grid& grid);  // {title, above, columns: [{header, text}], rows, notes}

// Adds a text unless it is there already, so that what several rows have in common is said once.
void add_once(std::vector<std::string>& texts, const std::string& text);
// Different texts in the order in which they were added, each with its rows.
using RowsByText = std::vector<std::pair<std::string, std::vector<std::string>>>;
void add_text(RowsByText& texts, const std::string& text, const std::string& row);

// The width of a text in console columns, and the text padded or cut to `width` columns.
size_t width_of(const std::string& text);
std::string fit(const std::string& text, size_t width);
// Breaks lines between words; each further line starts with `indent`.
std::string wrap(const std::string& text, size_t width, const std::string& indent);
std::string three_digits(double value);  // and all digits of large numbers

using Facts = std::vector<std::pair<std::string, std::string>>;
// `name: text` of each, wrapped for the console.
std::string facts_text(const Facts& facts);
// Replaces control characters by blanks. Text in records may come from the output of a crashed process.
std::string one_line(std::string text);
std::string escape_markdown(const std::string& text);
// One cell of a CSV file: quoted as in RFC 4180, and with a leading apostrophe, as OWASP advises, if a
// spreadsheet would treat the text as a formula. All CSV output of the suite uses this function.
std::string csv_cell(const std::string& text);

inline constexpr size_t kConsoleWidth = 120;

}  // namespace harness
