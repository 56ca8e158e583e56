// Launcher `env`: something else (torchrun, a batch script) has started one run_matrix for each rank, with
// RANK, WORLD_SIZE and MASTER_ADDR set. That of rank 0 leads: it prepares, records and reports. The others
// follow: they start their rank of one row after another as the leader announces them in the run's folder,
// which all must see.
#pragma once
#include <filesystem>

#include "harness/config/request.h"

namespace harness {

// The leader's side: announces a row for as long as this lives.
class FollowedRow {
 public:
  FollowedRow(const std::filesystem::path& run, const std::filesystem::path& directory, int port);
  ~FollowedRow();  // followers end what still runs of the row

 private:
  std::filesystem::path done_;
};

// The leader's side, at the end of a run, however it ends.
class Leading {
 public:
  explicit Leading(const std::filesystem::path& run);
  ~Leading();

 private:
  std::filesystem::path run_;
};

// The rank that this process starts, and whether that makes it a follower.
int64_t rank_of_environment();
bool is_follower();

// The follower's whole life; returns the exit code. Throws std::runtime_error when the folder holds an older
// run.
int follow(const Request& request, const std::filesystem::path& train_slice);

}  // namespace harness
