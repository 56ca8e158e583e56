// Ranks through OpenMPI's mpirun: on this machine, on two emulated nodes of it, or on --hosts and --hostfile.
#pragma once
#include "harness/launch/rank_program.h"

namespace harness {

enum class MpirunOn { this_machine, emulated_nodes, hosts };

base::Command mpirun_command(const Row& row, const AxisValues& values, const Installation& installation,
                             const Request& request, const LaunchSetting& setting, MpirunOn where);

// Once on each of that many nodes of --hosts or --hostfile.
base::Command mpirun_on_every_node(const Request& request, int64_t nodes, const Words& arguments);

// mpirun's way into the second emulated node: writes the script that mpirun_command names.
void write_remote_shell(const LaunchSetting& setting);

}  // namespace harness
