// The commands that start the processes of a row, for each launcher.
#pragma once
#include <string>
#include <vector>

#include "harness/launch/mpirun.h"

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

}  // namespace harness
