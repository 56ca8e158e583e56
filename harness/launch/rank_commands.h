// The commands that start the processes of a row, for each launcher.
#pragma once
#include <string>
#include <vector>

#include "harness/launch/rank_program.h"

namespace harness {

struct Launch {
  std::string launcher;
  std::vector<base::Command> commands;
  bool command_per_rank = true;  // false: one command starts all ranks
  std::string wrap = {};         // --wrap: command that one of the ranks runs under
};

Launch rank_commands(const Row& row, const AxisValues& values, const Installation& installation,
                     const Request& request, const LaunchSetting& setting);

// A command that runs `arguments` once on every node, with mpirun or srun; without arguments for other
// launchers.
base::Command on_every_node(const Request& request, int64_t nodes, const Words& arguments);

// mpirun.cpp
enum class MpirunOn { this_machine, emulated_nodes, hosts };  // hosts: --hosts or --hostfile
base::Command mpirun_command(const Row& row, const AxisValues& values, const Installation& installation,
                             const Request& request, const LaunchSetting& setting, MpirunOn where);
base::Command mpirun_on_every_node(const Request& request, int64_t nodes, const Words& arguments);
// Writes the script that mpirun uses as remote shell into the second emulated node.
void write_remote_shell(const LaunchSetting& setting);

// srun.cpp
base::Command srun_command(const Row& row, const AxisValues& values, const Installation& installation,
                           const Request& request, const LaunchSetting& setting);
base::Command srun_on_every_node(int64_t nodes, const Words& arguments);
// What the allocation lacks for a row, with the salloc command that requests it; empty when it fits, or its
// size is unknown. srun would refuse a row without a processor for each process ("More processors requested
// than permitted"), or distribute the processes differently.
std::string why_not_in_allocation(const Row& row, const AxisValues& values);

}  // namespace harness
