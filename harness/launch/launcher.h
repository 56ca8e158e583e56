// Runs the processes of one row until they end: watches progress, memory and time, and returns the outcome.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/progress.h"
#include "harness/contract/record_extras.h"
#include "harness/launch/rank_commands.h"

namespace harness {

struct TimeLimits {
  double timeout_s = 0;   // for the whole row; 0: none; longer is TIMEOUT
  double start_s = 600;   // until every rank has finished a batch; longer is HUNG
  double silence_s = 60;  // without a finished batch, or 5 times the longest batch if more; longer is HUNG
};

struct Outcome {
  std::string status = "OK";  // OK: every rank ended with exit code 0
  std::string reason;
  double wall_s = 0;                // from the start of the first process to the end of the last
  int64_t max_rss_bytes = 0;        // highest sum of the ranks' anonymous memory, sampled five times a second
  std::vector<std::string> stacks;  // only HUNG: stack of each rank
  bool interrupted = false;
  std::optional<RecordObjectStore> object_store;  // only of storages that read from one
};

// The commands' output must go to files. `tick` is called about five times a second. HUNG can only be
// detected while the progress file is updated; ranks on machines where it is not are limited by their own
// time-outs and `timeout_s`. When this returns or throws, all of the row's processes on this machine have
// been ended.
Outcome run_ranks(const Launch& launch, Progress& progress, const TimeLimits& limits,
                  const std::filesystem::path& directory, const std::function<void()>& tick);

}  // namespace harness
