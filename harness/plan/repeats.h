// Runs after the planned ones, while there is time: disturbed rows, then repeats in rounds.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/plan/plan.h"
#include "harness/stats/records.h"

namespace harness {

struct RepeatRules {
  int64_t most_attempts = 1;     // of a row and repeat
  int64_t most_runs = 1;         // of a row that is repeated in rounds
  std::vector<size_t> repeated;  // rows of the plan
  std::set<std::string>
      first;           // ids of rows whose further runs come before those of others, after two of each
  double limit_s = 0;  // from the start of the run
  int64_t seed = 1;    // of the order within a round
};

struct NextRun {
  Repetition run;
  bool attempt = false;  // true: another attempt of a disturbed repeat; false: a new repeat
};

// The next run; std::nullopt when none would end within the limit. Disturbed runs come first, in the order of
// attempts so far, then of how much was taken from them. Then follows the repeated row with the fewest runs,
// in random order; rows in `first` go before others once each has run twice. Failed rows and rows that
// measure accuracy don't run again. `records`: the ones that count, one per row and repeat.
std::optional<NextRun> next_run(const std::vector<PlannedRow>& plan, const Records& records,
                                const Attempts& attempts, const RepeatRules& rules, double elapsed_s,
                                const std::function<double(size_t row)>& run_s);

// All new repeats that the rules allow, round by round.
std::vector<size_t> rounds_of(const RepeatRules& rules);

// What may run after the planned runs, and until when, as one line; empty when nothing may.
std::string describe(const RepeatRules& rules, const std::vector<PlannedRow>& plan);

}  // namespace harness
