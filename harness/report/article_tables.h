// The article's Tables 1 to 9, from records of its matrix.
#pragma once
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// One or two grids for each table of which at least one row was run; none for other matrices. Times are means
// per batch over ranks and batches. The article's figures are shown only as ratios within one window.
std::vector<Grid> article_tables(const Summary& summary);

}  // namespace harness
