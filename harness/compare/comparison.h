// Compares two sets of records row by row: differences in the environment, speed-ups and verdicts.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/compare/noise.h"
#include "harness/experiment/verdict.h"
#include "harness/report/summary/grid.h"
#include "harness/stats/provenance.h"

namespace harness {

enum class RowVerdict { faster, slower, same, undecided, no_verdict };
const char* name_of(RowVerdict verdict);  // FASTER, SLOWER, SAME, UNDECIDED, -

struct PhaseChange {
  std::string phase;
  double ms = 0;     // mean per batch, B - A, medians over the runs
  double share = 0;  // of A's step
};

struct RowComparison {
  std::string id;
  std::vector<std::string> changed;  // settings of the row that differ
  std::vector<std::string> refused;  // reasons why the row is not compared
  bool failed_in_b = false;          // A has a figure and B has none, and not because it was skipped
  std::vector<std::string> doubts;   // reasons to doubt the figure
  Effect effect;                     // on the time of the timed batches; ratio above 1: B is faster
  Effect as_measured;                // the same without correction for disturbances
  bool undisturbed = false;          // `effect` is on undisturbed_s() (stats/disturbance.h) instead
  double a_s = 0, b_s = 0;           // medians as measured
  double margin = 0;                 // smallest relevant effect
  bool until_verdict = false;        // results decided how many pairs there are (stats/effect.h)
  Judgement faster;                  // B is, by the margin; by Holm's correction for all rows, see correct()
  RowVerdict verdict = RowVerdict::no_verdict;
  std::string reason;               // for the verdict
  std::vector<PhaseChange> phases;  // changes of at least 0.5 % of the step, largest first
};

struct Comparison {
  std::vector<Difference> environment;
  bool across_machines = false;  // rows then have speed-ups, but no verdicts
  std::vector<RowComparison> rows;
  std::vector<std::string> only_in_a, only_in_b;

  size_t compared() const;  // rows with a figure
  int exit_code() const;    // base/exit_code.h
};

// Rows are matched by id, scale and device. FASTER and SLOWER need an interval without 1, an effect of at
// least the margin and Holm's p under 0.05. SAME needs an interval within the margin. Everything else, and
// rows with fewer than kFewestRuns runs per side, are UNDECIDED. Where `ab --until` looked at results between
// runs, intervals and p are those of its last look (stats/effect.h).
Comparison compare(const Records& a, const Records& b, const Noise& noise);

Grid comparison_grid(const Comparison& comparison, const std::string& name_a, const std::string& name_b);
nlohmann::json comparison_json(const Comparison& comparison);

}  // namespace harness
