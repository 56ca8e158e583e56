#include "harness/report/article_tables.h"

namespace harness {

std::vector<Grid> article_tables(const Summary& summary) {
  std::vector<Grid> tables;
  for (const auto& table :
       {platform_grid, baseline_batch_grid, launching_grid, lmdb_grid, precision_grid, trained_accuracy_grid,
        data_parallel_grid, threads_grid, dp_and_ddp_grid, packages_grid, ddp_and_o2_grid, two_nodes_grid})
    if (Grid grid = table(summary); !grid.empty()) tables.push_back(std::move(grid));
  return tables;
}

}  // namespace harness
