// Validation: finds ranks that work slower than the ranks of runs that are known to be good.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/grid.h"

namespace harness {

// One part of a rank's work in one row, without waits for other ranks: with them, one slow rank would make
// all ranks look slow.
struct RankCheck {
  std::string row, part;  // part: loading (load), copying (h2d), computing (forward, loss, backward, step)
  int64_t rank = 0;
  std::string node;                // number and host from the rank map
  double ms = 0;                   // median over batches, then over repeats
  double good_ms = 0;              // geometric mean over the references' ranks
  double low_ms = 0, high_ms = 0;  // between these lie 95 % of such ranks
  double p = 1;                    // that one of them is as slow
  bool odd = false;

  double deviation() const { return ms / good_ms - 1; }
};

struct Validation {
  std::vector<RankCheck> checks;
  std::vector<std::string> odd;      // `rank 3 on node 1 (b): computing +30 % (row 12)`, or a whole node
  std::vector<std::string> remarks;  // rows that could not be checked, and why
};

// Compares each rank with all ranks of all references in the same row (experiment/outlier.h). A rank is odd
// if it is slower than them by more than kFloor, and if that is a discovery among all checks at kFalseRanks.
// Parts below 1 % of the step are ignored. `references`: the records of each good run.
Validation validate(const Records& run, const std::vector<Records>& references);

Grid validation_grid(const Validation& validation);

}  // namespace harness
