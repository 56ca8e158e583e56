// Validation: does each rank of a run do its work as fast as the ranks of runs that are known to be good?
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/grid.h"

namespace harness {

// One rank's own work in one row: waiting for others is not in it, or one slow rank would make all look slow.
struct RankCheck {
  std::string row, part;  // part: loading (load), copying (h2d), computing (forward, loss, backward, step)
  int64_t rank = 0;
  std::string node;                      // number and host as the rank map has them
  double ms = 0;                         // median over batches, then over repeats
  double reference_ms = 0;               // median of the references' ranks
  double lowest_ms = 0, highest_ms = 0;  // of the references' ranks
  double limit = 0;                      // deviation from which a rank is odd
  bool odd = false;                      // slower than the reference by more than the limit

  double deviation() const { return ms / reference_ms - 1; }
};

struct Validation {
  std::vector<RankCheck> checks;
  std::vector<std::string>
      odd;  // `node 1 (host b): all 4 ranks, computing +23 %` or `rank 3 on node 0 (host a): ...`
  std::vector<std::string> remarks;  // rows that could not be checked, and why
};

// Each rank is held against all ranks of all references in the same row: odd is what is slower than their
// median by more than kFloor and by more than three times their own spread (scaled MAD, Rousseeuw & Croux
// 1993), in a part that takes a hundredth of the step at least. `references`: the records of each run.
inline constexpr double kFloor = 0.05;
Validation validate(const Records& run, const std::vector<Records>& references);

Grid validation_grid(const Validation& validation);

}  // namespace harness
