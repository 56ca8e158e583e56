// How the processes of a row are started: the commands, for each launcher.
#pragma once
#include <string>
#include <vector>

#include "harness/child_process.h"
#include "harness/config.h"
#include "harness/workshop.h"

namespace harness {

// What starts ranks: `local` (this process; for rows over MPI mpirun on this machine), `mpirun` (on --hosts or
// --hostfile), `slurm` (srun in the allocation that this process runs in), `env` (torchrun or any other that sets
// RANK and so on: one run_matrix for each rank). "auto" asks the request and the environment.
std::string launcher_of(const Request& request);

// Processes of a row.
int64_t world_size(const Row& row, const AxisValues& values);

// Two nodes on this machine alone stand in for the row's.
bool emulates_nodes(const Row& row, const std::string& launcher);

struct Launch {
  std::string launcher;
  std::vector<Command> commands;
  bool command_per_rank = true;  // else one command starts them all
};

// What this run and this row bring along. The defaults are for showing commands without running them.
struct LaunchSetting {
  fs::path directory;    // the row's folder, holding job.json
  int port = 29500;      // where rank 0 will listen
  int listen_fd = -1;    // rank 0 inherits it and listens on it already
  fs::path scratch = "SCRATCH";
  // Words before a command that is to run in a node; and, from the first, in the second. Emulated nodes only.
  std::vector<std::string> enter[2] = {{"nsenter", "--target", "NODE0"}, {"nsenter", "--target", "NODE1"}};
  std::vector<std::string> cross = {"nsenter", "--target", "NODE1"};
};

Launch rank_commands(const Row& row, const AxisValues& values, const Workshop& workshop, const Request& request,
                     const LaunchSetting& setting);

// A command that runs once on every node of a row that mpirun or srun starts; empty arguments for other launchers.
Command on_every_node(const Request& request, int64_t nodes, const std::vector<std::string>& arguments);

// mpirun's way into the second emulated node: writes the script that rank_commands' mpirun calls.
void write_remote_shell(const LaunchSetting& setting);

}  // namespace harness
