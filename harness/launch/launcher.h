// Runs the processes of one row to their end, whatever that is: watches progress, memory and time, and says
// how it ended.
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

struct Limits {
  double timeout_s = 0;   // for the whole row; 0: none
  double start_s = 600;   // for reaching the first batch; longer is HUNG too
  double silence_s = 60;  // without a finished batch: longer (and than 5 of the longest so far) is HUNG
};

struct Outcome {
  std::string status = "OK";  // OK here means: every rank ended with exit code 0
  std::string reason;
  double wall_s = 0;                // from the first start to the last end
  int64_t max_rss_bytes = 0;        // highest sum of the ranks' anonymous memory, sampled five times a second
  std::vector<std::string> stacks;  // HUNG: what each rank wrote when asked for its stack
  bool interrupted = false;
  std::optional<RecordObjectStore> object_store;  // what the images came from, for storages that read from one
};

// The output of each command must go to files. `tick` is called about five times a second. The watch for
// silence and the stacks need ranks whose progress file is this machine's; others are left to their own
// time-outs and to `timeout_s`. No process that this machine runs for the row is left when this returns or
// throws.
Outcome run_ranks(const Launch& launch, Progress& progress, const Limits& limits,
                  const std::filesystem::path& directory, const std::function<void()>& tick);

}  // namespace harness
