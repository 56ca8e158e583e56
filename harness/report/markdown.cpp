// The table as Markdown, for a README or an issue.
#include <fmt/format.h>

#include "harness/report/cells.h"
#include "harness/report/table.h"

namespace harness {
namespace {

std::string flag_texts(const SummaryRow& row) {
  std::string texts;
  for (const Flag& flag : row.flags) texts += (texts.empty() ? "" : "; ") + one_line(flag.text);
  return texts;
}

}  // namespace

std::string markdown_table(const Summary& summary) {
  const Cells cells = figure_cells(summary, false);
  std::string text;
  for (const std::string& line : header_lines(summary)) text += escape_markdown(line) + "  \n";
  text += "\n| row | what | ran | cache |";
  std::string rule = "|---|---|---|---|";
  for (size_t i = 0; i < cells.headers.size(); ++i) {
    text += " " + cells.headers[i] + " |";
    rule += cells.is_text[i] ? "---|" : "---:|";
  }
  text += " flags |\n" + rule + "---|\n";
  size_t next = 0;
  for (const SummaryRow& row : summary.rows) {
    text += fmt::format("| {} | {} | {} | {} |", escape_markdown(row.id), escape_markdown(row.title),
                        row.ok() ? escape_markdown(row.ran) : "", row.ok() ? row.cache : "");
    if (row.ok())
      for (const std::string& cell : cells.rows[next++]) text += " " + escape_markdown(cell) + " |";
    else
      text += " " + row.status + " |" + std::string(cells.headers.size() - 1, '|');
    const std::string reason = row.ok() ? "" : escape_markdown(row.reason);
    const std::string flags = row.ok() ? escape_markdown(flag_texts(row)) : "";
    text += " " + reason + flags + " |\n";
  }
  text += "\n";
  for (const std::string& line : legend_lines(summary, false)) text += escape_markdown(line) + "  \n";
  return text;
}

}  // namespace harness
