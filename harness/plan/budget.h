// Budget: the most telling rows of a plan that fit into a given time.
#pragma once
#include <string>
#include <vector>

#include "harness/plan/plan.h"

namespace harness {

struct LeftOut {
  std::string row;
  double seconds = 0;  // predicted, all its runs
  std::string reason;
  bool used_up = false;  // there was no time left when its turn came
};

struct Choice {
  std::vector<bool> chosen;  // by index in the plan
  double seconds = 0;        // of the chosen rows
  std::vector<LeftOut> left_out;
};

// `seconds`: what each row of the plan will take in all its runs; 0 where it has none (skipped, or done
// already): such rows are always chosen. A row comes with its base, without which it tells nothing. First
// those whose figure the article states, then one of each axis that has none yet, then the rest, each in the
// order of the plan; what doesn't fit is left out and the next one tried.
Choice choose_rows(const std::vector<PlannedRow>& plan, const std::vector<double>& seconds, double budget_s);

// One line a row.
std::string describe(const std::vector<LeftOut>& left_out);

}  // namespace harness
