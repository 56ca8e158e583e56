// Where a run_matrix under test keeps what its rows need in memory.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>

#include "harness/base/scratch.h"

// How the path of each scratch folder of this process begins.
inline std::string scratch_prefix(pid_t run_matrix) {
  return (base::private_folder("/dev/shm") / ("run-" + std::to_string(run_matrix) + "-")).string();
}

// The scratch folder of the row that the process runs, or ran when it was killed; empty when there is none.
inline std::filesystem::path scratch_of(pid_t run_matrix) {
  const std::string prefix = scratch_prefix(run_matrix);
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(prefix).parent_path(), error))
    if (entry.path().string().rfind(prefix, 0) == 0) return entry.path();
  return {};
}
