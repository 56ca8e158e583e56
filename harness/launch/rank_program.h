// The program that every rank runs, with the arguments, environment and allocator that all launchers use.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/base/child_process.h"
#include "harness/config/installation.h"
#include "harness/config/request.h"
#include "harness/config/row_traits.h"
#include "harness/contract/row.h"

namespace harness {

// Why the library of row.malloc can't be loaded here; empty when it can, or when none is needed.
std::string why_no_allocator(const Row& row);

using Words = std::vector<std::string>;

// Settings of one launch. The defaults are placeholders for --dry-run.
struct LaunchSetting {
  fs::path directory;  // the row's folder, contains job.json
  int port = 29500;    // port of rank 0
  int listen_fd = -1;  // listening socket that rank 0 inherits
  fs::path scratch = "SCRATCH";
  // Only with emulated nodes: prefix of a command to run it in each node; `cross`: in the second, from the
  // first.
  Words enter[2] = {{"nsenter", "--target", "NODE0"}, {"nsenter", "--target", "NODE1"}};
  Words cross = {"nsenter", "--target", "NODE1"};
  Words program = {};  // with its arguments, instead of the row's
};

void append(Words& words, const Words& more);

// setting.program, else train_slice, or for a row with another engine bench/twin/twin.py.
Words rank_program(const Row& row, const Installation& installation, const LaunchSetting& setting);
// Why this machine's Python can't run a row's engine, with the next step; empty when it can. Asks that Python
// once for each engine and device.
std::string why_no_engine(const Row& row);
// Starts a row's external loader: its command with ring.py (bench/loading/external) before the adapter. An
// adapter's path is relative to the working folder or else to the project.
Words loader_program(const Row& row, const Installation& installation);
// Why this machine can't run a row's external loader: no such program or file, or a package that its Python
// lacks, with the next step. Asks once for each command.
std::string why_no_loader(const Row& row);
// Makes the command and its children listen only on this address instead of on all interfaces.
void listen_on(base::Command& command, const std::string& address, const Installation& installation);
// Sets the environment that is the same for all ranks: allocator, compute threads, the decoder's
// instructions.
void prepare_rank(base::Command& command, const Row& row);
// Numbers of the cores that the row's processes may use.
std::vector<int> rank_cpus(const Row& row);

// A command for starting all ranks, still without arguments. Each rank opens its log files in the row's
// folder.
base::Command one_for_all(const Row& row, const LaunchSetting& setting);
// Keeps from mpirun or srun what this process's environment says of a rank of its own (a batch script that
// sets WORLD_SIZE, a container of a PyTorchJob): the ranks would take it for theirs.
void leave_out_other_ranks(base::Command& command);

// Adds address and port of rank 0's store, on the first node, for ranks that another launcher starts.
void add_master(base::Command& command, const Request& request, const LaunchSetting& setting);
// Whether ranks look for the network interface towards rank 0's host: also those that MPI connects.
inline bool finds_interface(const Row& row, const Request& request) {
  return row.nodes > 1 && request.interface.empty();
}

// OpenMPI's environment for all ranks, with every launcher.
std::map<std::string, std::string> mpi_environment(const Request& request);

// `--wrap` runs the program of one rank under another, such as perf stat, strace or gdb.
// For ranks started one by one: appends `program` to the command, wrapped if `rank` is --wrap-rank.
void wrap_rank(base::Command& command, int64_t rank, const Words& program, const Request& request,
               const fs::path& directory);

// For ranks started by one command: returns `program`, wrapped on the rank whose environment variable
// `variable` is --wrap-rank. Without --wrap, returns `program` unchanged.
Words wrapped_where(const std::string& variable, const Words& program, const Request& request,
                    const fs::path& directory);

}  // namespace harness
