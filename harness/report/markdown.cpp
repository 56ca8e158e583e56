// The table as Markdown, for a README or an issue.
#include "harness/report/cells.h"
#include "harness/report/table.h"

namespace harness {

std::string markdown_table(const Summary& summary) {
  Grid grid = matrix_grid(summary);
  grid.above = header_lines(summary);
  return markdown_text(grid);
}

}  // namespace harness
