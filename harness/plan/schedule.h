// Schedule: which runs of a plan come in which order, how long they will take, and what a budget leaves out.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "harness/plan/budget.h"
#include "harness/plan/prediction.h"

namespace harness {

struct Schedule {
  std::vector<Repetition> runs;
  std::vector<double> seconds;  // predicted, by run
  std::vector<LeftOut> left_out;
  std::string described;  // for the end of the plan, lines
};

// `runs`: what there is to run of `plan`. `budget_s`: 0 for all of it. Throws PreparationError when not even
// the shortest row fits.
Schedule make_schedule(const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                       const std::vector<Prediction>& of_rows, double budget_s);

// RUN/left_out.txt says which rows a budget left out; without any, the file goes.
void write_left_out(const fs::path& run, const std::vector<LeftOut>& left_out);
void show_left_out(const fs::path& run, std::ostream& console);

}  // namespace harness
