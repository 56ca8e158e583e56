// Waits until all ranks of a run_matrix's row train.
#pragma once
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "harness/contract/progress.h"

// `row_folder`: RUN/rows/ROW-repeatN. Returns when each rank has finished three batches. On a machine that
// other tests keep busy, eight ranks need half a minute to start, so that only the end of run_matrix or three
// minutes are a failure: std::runtime_error.
inline void wait_until_it_trains(pid_t run_matrix, const std::filesystem::path& row_folder) {
  for (int i = 0; i < 3600; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    siginfo_t ended{};
    if (::waitid(P_PID, id_t(run_matrix), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
      throw std::runtime_error("run_matrix ended before the ranks of " + row_folder.string() + " trained");
    std::error_code missing;
    if (std::filesystem::file_size(row_folder / "progress", missing) == 0 || missing) continue;
    harness::Progress progress(row_folder / "progress", 0);
    bool all = true;
    for (int rank = 0; rank < progress.ranks(); ++rank) all = all && progress.slot(rank).batches > 2;
    if (all) return;
  }
  throw std::runtime_error("the ranks of " + row_folder.string() + " never trained");
}
