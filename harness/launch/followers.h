// Launcher `env`: another program (torchrun, a batch script) has started one run_matrix for each rank, with
// RANK, WORLD_SIZE and MASTER_ADDR set. Rank 0 is the leader: it prepares, records and reports. The others
// are followers: they start their rank of each row that the leader announces in the run's folder, which all
// must be able to access.
#pragma once
#include <filesystem>

#include "harness/config/installation.h"
#include "harness/config/request.h"

namespace harness {

// In the leader: announces a row on construction, and its end on destruction.
class FollowedRow {
 public:
  FollowedRow(const std::filesystem::path& run, const std::filesystem::path& directory, int port);
  ~FollowedRow();  // followers then end their rank of the row

 private:
  std::filesystem::path done_;
};

// In the leader: announces the end of the run on destruction.
class Leading {
 public:
  explicit Leading(const std::filesystem::path& run);
  ~Leading();

 private:
  std::filesystem::path run_;
};

// RANK of the environment, 0 when it is not set; a follower has a rank other than 0.
int64_t rank_of_environment();
bool is_follower();

// Throws PreparationError under launcher env, whose ranks follow the rows of one run alone. `what`:
// `explain`.
void refuse_followers(const Request& request, const std::string& what);

// Runs a follower until the leader announces the end; returns the exit code. Throws std::runtime_error when
// the folder contains an older run or the leader doesn't start.
int follow(const Request& request, const Installation& installation);

}  // namespace harness
