// Fits columns to the width of the console, wraps long cells, and escapes text for each format.
#include "harness/report/summary/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "harness/base/number.h"
#include "harness/base/plain_text.h"

namespace harness {
namespace {

constexpr size_t kNarrowest = 12;

// Its cell takes the room of the columns that the row has no cells for.
bool is_last_of_short(const Grid& grid, const std::vector<std::string>& cells, size_t column) {
  return column + 1 == cells.size() && cells.size() < grid.columns.size();
}

std::vector<size_t> column_widths(const Grid& grid) {
  std::vector<size_t> widths;
  for (const GridColumn& column : grid.columns) widths.push_back(width_of(column.header));
  for (const auto& row : grid.rows)
    for (size_t i = 0; i < row.size() && !is_last_of_short(grid, row, i); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  for (size_t i = 0; i < widths.size(); ++i)
    if (const size_t most = grid.columns[i].wrap_at) widths[i] = std::min(widths[i], most);
  size_t all = 0;
  for (size_t width : widths) all += width + 1;
  for (size_t i = 0; i < widths.size(); ++i)
    if (grid.columns[i].may_shrink && all > kConsoleWidth + 1)
      widths[i] -= std::min(widths[i] - std::min(widths[i], kNarrowest), all - kConsoleWidth - 1);
  return widths;
}

std::string cell_text(const std::string& cell, size_t width, bool is_text) {
  const size_t taken = width_of(cell);
  return is_text || taken > width ? fit(cell, width) : std::string(width - taken, ' ') + cell;
}

// One line, or several if cells are wrapped.
std::string console_line(const Grid& grid, std::vector<size_t> widths,
                         const std::vector<std::string>& cells) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(cells.size()));
  size_t used = 0;
  for (size_t i = 0; i < cells.size(); used += widths[i++] + 1) {
    std::string cell = one_line(cells[i]);
    const bool short_row = is_last_of_short(grid, cells, i);
    if (short_row) widths[i] = std::max(kNarrowest, kConsoleWidth - std::min(kConsoleWidth, used));
    if (short_row || grid.columns[i].wrap_at) cell = wrap(cell, widths[i], "");
    std::istringstream parts(cell);
    size_t line = 0;
    for (std::string part; std::getline(parts, part); ++line) {
      if (line == lines.size()) lines.emplace_back(cells.size());
      lines[line][i] = part;
    }
  }
  std::string text;
  for (const auto& parts : lines) {
    std::string line;
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool is_text = grid.columns[i].is_text || is_last_of_short(grid, cells, i);
      line += (i ? " " : "") + cell_text(parts[i], widths[i], is_text);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    const size_t first = std::min(line.find_first_not_of(' '), line.size());
    text += (line.compare(first, 2, "::") == 0 ? "'" : "") + line + "\n";
  }
  return text;
}

// Whether a spreadsheet would evaluate the text: OWASP's list of first characters, except for numbers.
bool is_formula(const std::string& text) {
  return !text.empty() && std::strchr("=+-@\t\r\n", text.front()) && !base::number_of<double>(text);
}

}  // namespace

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

void add_text(RowsByText& texts, const std::string& text, const std::string& row) {
  auto found = std::ranges::find_if(texts, [&](const auto& it) { return it.first == text; });
  if (found == texts.end()) found = texts.insert(texts.end(), {text, {}});
  add_once(found->second, row);
}

size_t width_of(const std::string& text) {  // counts code points, which suffices for Latin text
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string fit(const std::string& text, size_t width) {
  if (width_of(text) <= width) return text + std::string(width - width_of(text), ' ');
  size_t bytes = 0;
  for (size_t points = 0; bytes < text.size(); ++bytes)
    if ((text[bytes] & 0xC0) != 0x80 && points++ == width - 2) break;
  return text.substr(0, bytes) + "..";
}

std::string wrap(const std::string& any, size_t width, const std::string& indent) {
  const std::string text = one_line(any);
  std::string lines, line;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool is_command = word.starts_with("::");  // of GitHub Actions, at the beginning of a line
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width) {
      lines += line + "\n" + indent;
      line.clear();
    }
    line += (!line.empty() ? " " : is_command ? "'" : "") + word;
    begin = end + 1;
  }
  return lines + line;
}

std::string three_digits(double value) {
  return std::abs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string facts_text(const Facts& facts) {
  std::string text;
  for (const auto& [name, fact] : facts) {
    std::istringstream lines(name + ": " + fact);
    std::string indent;
    for (std::string line; std::getline(lines, line); indent = "  ")
      text += indent + wrap(line, kConsoleWidth - indent.size(), "  ") + "\n";
  }
  return text;
}

std::string one_line(std::string text) {
  text = base::plain_text(text);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

std::string escape_markdown(const std::string& text) {
  std::string out;
  for (char c : one_line(text)) {
    if (std::strchr("|<*[\\", c)) out += '\\';
    out += c;
  }
  return out;
}

std::string csv_cell(const std::string& text) {
  const std::string safe = is_formula(text) ? "'" + text : text;
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string out = "\"";
  for (char c : safe) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string console_text(const Grid& grid) {
  if (grid.empty()) return "";
  std::string text = grid.title + "\n";
  const auto add_lines = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text += wrap(line, kConsoleWidth - 2, "  ") + "\n";
  };
  add_lines(grid.above);
  const std::vector<size_t> widths = column_widths(grid);
  std::vector<std::string> headers;
  for (const GridColumn& column : grid.columns) headers.push_back(column.header);
  text += console_line(grid, widths, headers);
  for (const auto& row : grid.rows) text += console_line(grid, widths, row);
  add_lines(grid.notes);
  return text;
}

std::string markdown_text(const Grid& grid, int level) {
  if (grid.empty()) return "";
  std::string text =
      std::string(static_cast<size_t>(level), '#') + " " + escape_markdown(grid.title) + "\n\n";
  for (const std::string& line : grid.above) text += escape_markdown(line) + "  \n";
  if (!grid.above.empty()) text += "\n";
  std::string rule = "|";
  text += "|";
  for (const GridColumn& column : grid.columns) {
    text += " " + escape_markdown(column.header) + " |";
    rule += column.is_text ? "---|" : "---:|";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : grid.rows) {
    text += "|";
    for (size_t i = 0; i < grid.columns.size(); ++i)
      text += (i < row.size() ? " " + escape_markdown(row[i]) : "") + " |";
    text += "\n";
  }
  text += "\n";
  for (const std::string& line : grid.notes) text += escape_markdown(line) + "  \n";
  return text;
}

std::optional<double> if_any(double figure) { return figure > 0 ? std::optional(figure) : std::nullopt; }

std::string csv_text(const std::vector<Grid>& grids) {
  std::string text = "table,row,quantity,unit,value,low,high,article,text\n";
  const auto number = [](const std::optional<double>& it) { return it ? fmt::format("{:.6g}", *it) : ""; };
  for (const Grid& grid : grids)
    for (const GridValue& it : grid.values)
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_cell(grid.title), csv_cell(it.row),
                          csv_cell(it.quantity), csv_cell(it.unit), number(it.figure.value),
                          number(it.figure.low), number(it.figure.high), number(it.figure.article),
                          csv_cell(it.text == "-" ? "" : it.text));
  return text;
}

nlohmann::json grid_json(const Grid& grid) {
  nlohmann::json columns = nlohmann::json::array();
  for (const GridColumn& column : grid.columns)
    columns.push_back({{"header", column.header}, {"text", column.is_text}});
  return {{"title", grid.title},
          {"above", grid.above},
          {"columns", columns},
          {"rows", grid.rows},
          {"notes", grid.notes}};
}

}  // namespace harness
