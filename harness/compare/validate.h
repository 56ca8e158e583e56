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
  std::string node;                      // number and host from the rank map
  double ms = 0;                         // median over batches, then over repeats
  double reference_ms = 0;               // median over the references' ranks
  double lowest_ms = 0, highest_ms = 0;  // range over the references' ranks
  double limit = 0;                      // largest deviation that is not odd
  bool odd = false;                      // slower than the reference by more than the limit

  double deviation() const { return ms / reference_ms - 1; }
};

struct Validation {
  std::vector<RankCheck> checks;
  std::vector<std::string> odd;      // `rank 3 on node 1 (b): computing +30 % (row 12)`, or a whole node
  std::vector<std::string> remarks;  // rows that could not be checked, and why
};

// Compares each rank with all ranks of all references in the same row. A rank is odd if it is slower than
// their median by more than kFloor and by more than three times their spread (scaled MAD, Rousseeuw & Croux
// 1993). Parts below 1 % of the step are ignored. `references`: the records of each good run.
Validation validate(const Records& run, const std::vector<Records>& references);

Grid validation_grid(const Validation& validation);

}  // namespace harness
