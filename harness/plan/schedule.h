// The schedule of a plan: the order of its runs, their predicted times, and the rows that a budget leaves
// out.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "harness/plan/budget.h"
#include "harness/plan/prediction.h"

namespace harness {

struct Schedule {
  std::vector<Repetition> runs;
  std::vector<double> seconds;      // predicted, by run
  std::vector<Prediction> of_rows;  // of one run, by row of the plan; 0 s for skipped rows
  std::vector<LeftOut> left_out;
  std::string described;  // text to print after the plan
};

// `runs`: the runs of `plan` to schedule. `of_rows`: prediction for one run of each row. `budget_s`: 0: no
// limit. Throws PreparationError when even the shortest row doesn't fit.
Schedule make_schedule(const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                       const std::vector<Prediction>& of_rows, double budget_s);

// Writes RUN/left_out.txt, the rows that the budget left out; removes the file when there are none.
void write_left_out(const fs::path& run, const std::vector<LeftOut>& left_out);
void show_left_out(const fs::path& run, std::ostream& console);

}  // namespace harness
