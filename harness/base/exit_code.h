// Exit codes of run_matrix.
#pragma once

namespace base {

// kRegression: a comparison found something slower, or a claim of the user's own matrix does not hold.
enum ExitCode {
  kAllGood = 0,
  kRowFailed = 1,
  kBadInput = 2,
  kNothingRan = 3,
  kRegression = 4,
  kInterrupted = 130
};

}  // namespace base
