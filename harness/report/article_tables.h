// The article's Tables 1 to 9, from records of its matrix.
#pragma once
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// One or two grids for each table of which at least one row was run; none for other matrices. Times are means
// per batch over ranks and batches. The article's figures are shown only as ratios within one window.
std::vector<Grid> article_tables(const Summary& summary);

// One function for each; the grid is empty if none of its rows was run.
Grid platform_grid(const Summary& summary);          // Table 1
Grid baseline_batch_grid(const Summary& summary);    // Table 1, and the same batch from tmpfs
Grid launching_grid(const Summary& summary);         // Table 1, host time and device time; GPUs only
Grid lmdb_grid(const Summary& summary);              // Table 2
Grid precision_grid(const Summary& summary);         // Table 3, speed
Grid trained_accuracy_grid(const Summary& summary);  // Table 3, accuracy
Grid data_parallel_grid(const Summary& summary);     // Table 4
Grid threads_grid(const Summary& summary);           // Table 5
Grid dp_and_ddp_grid(const Summary& summary);        // Table 6
Grid packages_grid(const Summary& summary);          // Table 7
Grid ddp_and_o2_grid(const Summary& summary);        // Table 8
Grid two_nodes_grid(const Summary& summary);         // Table 9

}  // namespace harness
