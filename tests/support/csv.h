// Parses CSV that the suite writes: RFC 4180 with LF.
#pragma once
#include <map>
#include <string>
#include <vector>

// Rows of cells, header first.
inline std::vector<std::vector<std::string>> csv_lines(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> cells = {""};
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text.compare(i, 2, "\"\"") == 0)
      cells.back() += text[++i];
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == ',')
      cells.emplace_back();
    else if (!quoted && text[i] == '\n') {
      lines.push_back(std::move(cells));
      cells = {""};
    } else
      cells.back() += text[i];
  }
  return lines;
}

// The cells of one row by header.
inline std::map<std::string, std::string> csv_row(const std::vector<std::vector<std::string>>& lines,
                                                  size_t line) {
  std::map<std::string, std::string> row;
  for (size_t i = 0; i < lines.at(line).size(); ++i) row[lines.at(0).at(i)] = lines[line][i];
  return row;
}
