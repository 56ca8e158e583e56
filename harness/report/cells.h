// Cells of the main table as text, for the console and as a grid.
#pragma once
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

struct Cells {
  std::vector<std::string> headers;
  std::vector<bool> is_text;                   // left-aligned
  std::vector<std::vector<std::string>> rows;  // one list per OK row, in order
};

// All columns except id, title and flags. `narrow`: shortened to the width of a console.
Cells figure_cells(const Summary& summary, bool narrow);

// The main table with every column; a row that isn't OK has its status and reason instead of figures.
Grid matrix_grid(const Summary& summary);
// The same table for a page: short, with the remarks as letters and the reasons below it; and as a second
// table what ran in each row and its remarks in words.
Grid narrow_matrix_grid(const Summary& summary);
Grid remarks_in_words(const Summary& summary);

std::vector<std::string> header_lines(const Summary& summary);
std::vector<std::string> legend_lines(const Summary& summary, bool narrow);
std::string codes_of(const SummaryRow& row);  // each flag's code once

}  // namespace harness
