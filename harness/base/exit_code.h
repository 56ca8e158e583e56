// How run_matrix ends.
#pragma once

namespace base {

// kRegression: what was compared got slower.
enum ExitCode {
  kAllGood = 0,
  kRowFailed = 1,
  kBadInput = 2,
  kNothingRan = 3,
  kRegression = 4,
  kInterrupted = 130
};

}  // namespace base
