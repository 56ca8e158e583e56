// The schedule of a plan: the order of its runs, their predicted times, and the most informative rows that
// fit into a given time.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/plan/prediction.h"

namespace harness {

struct LeftOut {
  std::string row;
  std::string reason;
  bool used_up = false;  // chosen, but the budget was used up before this run
};

struct Choice {
  std::vector<bool> chosen;  // by index in the plan
  double seconds = 0;        // of the chosen rows
  std::vector<LeftOut> left_out;
};

// `seconds`: predicted time of all runs of each row; 0 for rows without runs (skipped or already done), which
// are always chosen. A row is chosen together with its base, because its ratio needs both. Order: rows with a
// figure in the article, then one row for each axis without a chosen row, then the rest, each in the order of
// the plan. A row that doesn't fit is left out, and the next one is tried.
Choice choose_rows(const std::vector<PlannedRow>& plan, const std::vector<double>& seconds, double budget_s);

// One line per row.
std::string describe(const std::vector<LeftOut>& left_out);

struct Schedule {
  std::vector<Repetition> runs;
  std::vector<Prediction> of_rows;  // of one run, by row of the plan; 0 s for skipped rows
  double seconds = 0;               // predicted, of all runs
  std::vector<LeftOut> left_out = {};
  std::string described = {};  // text to print after the plan
};

// `runs`: the runs of `plan` to schedule. `of_rows`: prediction for one run of each row. `budget_s`: 0: no
// limit. Throws PreparationError when even the shortest row doesn't fit.
Schedule make_schedule(const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                       const std::vector<Prediction>& of_rows, double budget_s);

// Writes RUN/left_out.txt, the rows that the budget left out; removes the file when there are none.
void write_left_out(const fs::path& run, const std::vector<LeftOut>& left_out);
void show_left_out(const fs::path& run, std::ostream& console);

}  // namespace harness
