// The program that every rank runs, and what all launchers give it; and what a row's launch brings along.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/base/child_process.h"
#include "harness/config/installation.h"
#include "harness/config/request.h"
#include "harness/config/row_traits.h"

namespace harness {

using Words = std::vector<std::string>;

// The defaults are for showing commands without running them.
struct LaunchSetting {
  fs::path directory;  // the row's folder, holding job.json
  int port = 29500;    // where rank 0 will listen
  int listen_fd = -1;  // rank 0 inherits it and listens on it already
  fs::path scratch = "SCRATCH";
  // Words before a command that is to run in a node; and, from the first, in the second. Emulated nodes only.
  Words enter[2] = {{"nsenter", "--target", "NODE0"}, {"nsenter", "--target", "NODE1"}};
  Words cross = {"nsenter", "--target", "NODE1"};
};

void append(Words& words, const Words& more);

Words train_slice(const Installation& installation, const LaunchSetting& setting);
// What the command starts listens on this address alone, instead of on every interface of the machine.
void listen_on(base::Command& command, const std::string& address, const Installation& installation);
// Environment that is the same for all ranks: allocator policy and compute threads.
std::map<std::string, std::string> rank_environment(const Row& row);
// The cores of this machine that the row's processes may use.
std::vector<int> rank_cpus(const Row& row);

// A command that starts all ranks: arguments are still to come. Each rank opens its own files in the row's
// folder.
base::Command one_for_all(const Row& row, const LaunchSetting& setting);

// Where rank 0's store is to be found, for ranks that this process doesn't start itself: on the first of the
// nodes.
void add_master(base::Command& command, const Request& request, const LaunchSetting& setting);

// OpenMPI's settings for all ranks, whatever starts them.
std::map<std::string, std::string> mpi_environment(const Request& request);

}  // namespace harness
