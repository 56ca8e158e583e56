// The main table as a grid, and the lines above it.
#pragma once
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// The main table, with remarks as letters. A row that isn't OK has its status and reason instead of figures.
Grid matrix_grid(const Summary& summary);
// What ran in each row, and its remarks in words.
Grid remarks_in_words(const Summary& summary);

std::vector<std::string> header_lines(const Summary& summary);
std::vector<std::string> legend_lines(const Summary& summary);

}  // namespace harness
