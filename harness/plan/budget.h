// Chooses the most informative rows of a plan that fit into a given time.
#pragma once
#include <string>
#include <vector>

#include "harness/plan/plan.h"

namespace harness {

struct LeftOut {
  std::string row;
  double seconds = 0;  // predicted, for all runs of the row
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

}  // namespace harness
