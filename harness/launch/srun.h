// Starts ranks with Slurm's srun in the current allocation.
#pragma once
#include "harness/launch/rank_program.h"

namespace harness {

base::Command srun_command(const Row& row, const AxisValues& values, const Installation& installation,
                           const Request& request, const LaunchSetting& setting);

// What the allocation lacks for a row, with the salloc command that requests it; empty when it fits, or its
// size is unknown. srun would refuse a row without a processor for each process ("More processors requested
// than permitted"), or distribute the processes differently.
std::string why_not_in_allocation(const Row& row, const AxisValues& values);

// Runs `arguments` once on each of `nodes` nodes of the allocation.
base::Command srun_on_every_node(int64_t nodes, const Words& arguments);

}  // namespace harness
