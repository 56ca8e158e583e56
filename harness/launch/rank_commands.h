// How the processes of a row are started: the commands, for each launcher.
#pragma once
#include <string>
#include <vector>

#include "harness/launch/mpirun.h"

namespace harness {

struct Launch {
  std::string launcher;
  std::vector<base::Command> commands;
  bool command_per_rank = true;  // else one command starts them all
  std::string wrap = {};         // what one of the ranks runs under
};

Launch rank_commands(const Row& row, const AxisValues& values, const Installation& installation,
                     const Request& request, const LaunchSetting& setting);

// A command that runs once on every node of a row that mpirun or srun starts; empty arguments for other
// launchers.
base::Command on_every_node(const Request& request, int64_t nodes, const Words& arguments);

}  // namespace harness
