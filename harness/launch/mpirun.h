// Starts ranks with OpenMPI's mpirun: on this machine, on two emulated nodes, or on --hosts or --hostfile.
#pragma once
#include "harness/launch/rank_program.h"

namespace harness {

enum class MpirunOn { this_machine, emulated_nodes, hosts };

base::Command mpirun_command(const Row& row, const AxisValues& values, const Installation& installation,
                             const Request& request, const LaunchSetting& setting, MpirunOn where);

// Runs `arguments` once on each node of --hosts or --hostfile.
base::Command mpirun_on_every_node(const Request& request, int64_t nodes, const Words& arguments);

// Writes the script that mpirun uses as remote shell into the second emulated node.
void write_remote_shell(const LaunchSetting& setting);

}  // namespace harness
