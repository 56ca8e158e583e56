// Compares two sets of records, row by row: what differs around them, how much faster, and whether that is
// more than chance.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/stats/effect.h"
#include "harness/stats/provenance.h"
#include "harness/compare/noise.h"
#include "harness/report/summary/grid.h"

namespace harness {

enum class Verdict { faster, slower, same, undecided, no_verdict };
const char* name_of(Verdict verdict);  // FASTER, SLOWER, SAME, UNDECIDED, -

struct PhaseChange {
  std::string phase;
  double ms = 0;     // mean per batch, B - A, medians over the runs
  double share = 0;  // of A's step
};

struct RowComparison {
  std::string id;
  std::vector<std::string> changed;  // settings of the row that differ
  std::vector<std::string> refused;  // why there is no figure
  std::vector<std::string> doubts;
  Effect effect;            // on the seconds of the timed batches: ratio above 1, B is faster
  double a_s = 0, b_s = 0;  // medians
  double margin = 0;        // smallest effect that counts
  double adjusted_p = 1;    // Holm's over the rows with a verdict
  Verdict verdict = Verdict::no_verdict;
  std::string reason;               // of the verdict
  std::vector<PhaseChange> phases;  // largest first, only those of at least 0.5 % of the step
};

struct Comparison {
  std::vector<Difference> environment;
  bool across_machines = false;  // then there are speed-ups and no verdicts about software
  std::vector<RowComparison> rows;
  std::vector<std::string> only_in_a, only_in_b;

  bool any(Verdict verdict) const;
  size_t compared() const;  // rows with a figure
};

// Rows are matched by id, scale and device. FASTER and SLOWER need
// an interval without 1, an effect of the margin at least and Holm's p under 0.05; SAME an interval within
// the margin; UNDECIDED is all else, and everything from under kFewestRuns runs.
Comparison compare(const Records& a, const Records& b, const Noise& noise);

Grid comparison_grid(const Comparison& comparison, const std::string& name_a, const std::string& name_b);
nlohmann::json comparison_json(const Comparison& comparison);

}  // namespace harness
