// A/B: two settings of the same rows, run side by side in random order, then compared.
#pragma once
#include <ostream>

#include "harness/run/run.h"

namespace harness {

struct Sides {
  std::vector<std::string> set_a, set_b;  // field=value for one side, after those of --set
  std::vector<fs::path> configs_b;        // another matrix for B; empty: that of A
  fs::path build_b;                       // folder with another run_matrix and train_slice; empty: ours

  // Nothing differs: what comes out is this machine's noise.
  bool same() const { return set_a.empty() && set_b.empty() && configs_b.empty() && build_b.empty(); }
};

// Runs each row in request.repeats blocks (9 when it says nothing); within a block chance says which side is
// first. Records go to OUT/A and OUT/B with the key `pair`; the comparison follows. An A/A experiment joins
// the machine's noise in results/noise. Throws ConfigError or PreparationError before anything has run.
int run_ab(const Workshop& workshop, const Request& request, const Sides& sides, std::ostream& console);

// Compares the runs in two folders, prints it, and writes comparison.txt, .md, .json and .html into `out`
// unless that is empty. Returns kRegression when a row is SLOWER, kNothingRan when no row could be compared.
int compare_runs(const Workshop& workshop, const fs::path& a, const fs::path& b, const fs::path& out,
                 bool as_json, std::ostream& console);

}  // namespace harness
