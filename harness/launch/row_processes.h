// The processes of a row: the started commands and the ranks, which register in the progress file.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/descendants.h"
#include "harness/contract/machine.h"
#include "harness/contract/progress.h"
#include "harness/launch/rank_commands.h"

namespace harness {

struct Outcome;

class RowProcesses {
 public:
  // Starts the commands. Throws std::runtime_error when one can't be started, after ending the others.
  RowProcesses(const Launch& launch, Progress& progress, const std::filesystem::path& directory);
  ~RowProcesses();  // ends all processes of the row that run on this machine, and waits until they are gone
  RowProcesses(const RowProcesses&) = delete;
  RowProcesses& operator=(const RowProcesses&) = delete;

  void reap();  // records the exit status of ended commands
  bool running() const;
  int first_failure() const { return first_failure_; }              // index of the command, -1: none
  int end_of(int command) const { return ends_[size_t(command)]; }  // status of waitpid(2)
  // Bytes of anonymous memory of the ranks on this machine; of a rank that has started processes, of all of
  // them with what they share, which takes the kernel some ms.
  int64_t memory() const;
  // Asks each rank for its stack (SIGUSR2) and returns what it writes, over NCCL also its last collectives.
  std::vector<std::string> stacks() const;
  // Whether all ranks have registered from this machine and have ended.
  bool ranks_are_gone() const;

 private:
  std::vector<pid_t> ranks() const;
  void end_gently();
  void end_all();

  const Launch& launch_;
  Progress& progress_;
  const std::filesystem::path directory_;
  const base::Descendants descendants_;
  std::vector<pid_t> pids_;  // 0: has ended
  std::vector<int> ends_;
  int first_failure_ = -1;
};

// failure.cpp
// A line for each process group of the rank that wrote the dump, or for damage of it. Empty without one.
std::string last_collectives(const std::filesystem::path& dump);

// Sets status and reason after a command has failed. `memory_ran_out`: during the row. Ranks that mpirun or
// srun started may be in another cgroup than this process.
void explain_failure(Outcome& outcome, const RowProcesses& processes, const Launch& launch,
                     Progress& progress, const std::filesystem::path& directory, MemoryRanOut memory_ran_out);

// Sets status and reason when no rank has finished a batch for longer than is allowed, after RowProcesses::
// stacks(): a rank whose thread is still in its storage tells that then.
void explain_hang(Outcome& outcome, const Progress& progress, double silence_s, double allowed_s);

// For ranks that don't start: OpenMPI's PMIx server may deadlock after it has run out of shared memory, and
// then neither it nor the ranks end. Sets status and reason and returns true if its output says so.
bool explain_deadlock(Outcome& outcome, const Launch& launch);

// Sets status and reason when all ranks have ended, but their launcher still runs.
void explain_missing_ranks(Outcome& outcome, const Launch& launch, Progress& progress,
                           const std::filesystem::path& directory);

}  // namespace harness
