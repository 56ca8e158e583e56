// Formats the main table, and writes it and the other tables.
#include "harness/report/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "harness/base/file.h"
#include "harness/report/article_tables.h"
#include "harness/report/bottleneck.h"
#include "harness/report/claims.h"
#include "harness/report/first_screen.h"
#include "harness/report/grids.h"
#include "harness/report/metrics.h"
#include "harness/report/source_questions.h"
#include "harness/report/summary/rank_views.h"
#include "harness/report/summary/summary.h"

namespace harness {
namespace {

// The tables after the main table of a summary.
std::vector<Grid> further_grids(const Summary& summary) {
  std::vector<Grid> grids = own_tables(summary);
  for (const Grid& grid : {claims_grid(summary, true), question_grid(summary), bottleneck_grid(summary),
                           communication_grid(summary), rank_views_grid(summary), accuracy_grid(summary)})
    grids.push_back(grid);
  std::erase_if(grids, &Grid::empty);
  return grids;
}

// Writes article.txt, .md and .csv if there are rows of the article. Returns the text of article.txt.
std::string write_article_tables(const std::filesystem::path& run_dir,
                                 const std::vector<Summary>& summaries) {
  std::string text, markdown;
  std::vector<Grid> grids;
  const auto add = [&](Grid grid, const std::string& where = "") {
    if (grid.empty()) return;
    text += (text.empty() ? "" : "\n") + console_text(grid);
    markdown += (markdown.empty() ? "" : "\n") + markdown_text(grid);
    grid.title += where;
    grids.push_back(std::move(grid));
  };
  for (const Summary& summary : summaries) {
    const std::string where =
        summaries.size() > 1 ? fmt::format(" ({}, {})", summary.scale, summary.device) : "";
    add(emulated_grid(summary), where);
    for (Grid& grid : article_tables(summary)) add(std::move(grid), where);
    add(claims_grid(summary), where);
  }
  if (text.empty()) return text;
  write_text(run_dir / "article.txt", text);
  write_text(run_dir / "article.md", markdown);
  write_text(run_dir / "article.csv", csv_text(grids));
  return text;
}

}  // namespace

std::string console_table(const Summary& summary) {
  std::string text;
  for (const std::string& line : header_lines(summary)) text += wrap(line, kConsoleWidth - 2, "  ") + "\n";
  return text + (summary.rows.empty() ? "" : "\n") + console_text(matrix_grid(summary));
}

std::string markdown_table(const Summary& summary) {
  Grid grid = matrix_grid(summary);
  grid.above = header_lines(summary);
  return markdown_text(grid) + "\n" + markdown_text(remarks_in_words(summary));
}

std::string csv_table(const std::vector<Summary>& summaries) {
  std::string text;
  const auto add_line = [&](auto cell) {
    std::vector<std::string> cells;
    std::ranges::transform(metrics(), std::back_inserter(cells), cell);
    text += fmt::format("{}\n", fmt::join(cells, ","));
  };
  add_line(&Metric::name);
  for (const Summary& summary : summaries)
    for (const SummaryRow& row : summary.rows)
      add_line([&](const Metric& metric) { return csv_cell(csv_text(metric, summary, row)); });
  return text;
}

bool write_report(const std::filesystem::path& run_dir, const std::vector<Summary>& summaries,
                  std::ostream& console, Shown shown, const std::string& left_out) {
  if (summaries.empty()) {
    console << run_dir.string() << ": no records: nothing ran\n";
    return false;
  }
  std::string first, text, markdown = escape_markdown(left_out);
  for (const Summary& summary : summaries) {
    const std::string screen = first_screen_text(summary);
    first += screen;
    text += (text.empty() ? "" : "\n") + console_table(summary);
    markdown += (markdown.empty() ? "" : "\n") + (screen.empty() ? "" : "```\n" + screen + "```\n") +
                markdown_table(summary);
    for (const Grid& grid : further_grids(summary)) {
      text += "\n" + console_text(grid);
      markdown += "\n" + markdown_text(grid);
    }
  }
  console << text;
  write_text(run_dir / "table.txt", left_out + first + text);
  write_text(run_dir / "table.md", markdown);
  write_text(run_dir / "table.csv", csv_table(summaries));
  const std::string article = write_article_tables(run_dir, summaries);
  if (shown == Shown::everything && !article.empty())
    console << "\n" << article;
  else if (!article.empty())
    console << "the article's tables with these figures: " << (run_dir / "article.md").string() << "\n";
  return true;
}

void write_text(const std::filesystem::path& file, const std::string& text) try {
  base::write_whole_file(file, text, /*durable=*/false);
} catch (const std::runtime_error& error) {
  throw std::runtime_error(
      fmt::format("{}; then repeat the command (`./run_matrix report RUN` for a run whose rows have ended, "
                  "`history trend` for nights)",
                  error.what()));
}

}  // namespace harness
