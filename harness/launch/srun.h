// Ranks through Slurm's srun, in the allocation that this process runs in.
#pragma once
#include "harness/launch/rank_program.h"

namespace harness {

base::Command srun_command(const Row& row, const AxisValues& values, const Installation& installation,
                           const Request& request, const LaunchSetting& setting);

// What this process's allocation lacks for a row, with the command that asks for it; empty where it fits, and
// where the environment doesn't say. srun would refuse a row without a processor for each process ("More
// processors requested than permitted"), or put other numbers of processes on its nodes than the row has.
std::string why_not_in_allocation(const Row& row, const AxisValues& values);

// Once on each of that many nodes of the allocation.
base::Command srun_on_every_node(int64_t nodes, const Words& arguments);

}  // namespace harness
