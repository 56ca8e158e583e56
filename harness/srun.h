// Ranks through Slurm's srun, in the allocation that this process runs in.
#pragma once
#include "harness/rank_program.h"

namespace harness {

Command srun_command(const Row& row, const AxisValues& values, const Workshop& workshop,
                     const Request& request, const LaunchSetting& setting);

// Once on each of that many nodes of the allocation.
Command srun_on_every_node(int64_t nodes, const Words& arguments);

}  // namespace harness
