// Why a row's processes failed, in the words of whoever knows best: the rank, its launcher, or the kernel.
#pragma once
#include <filesystem>
#include <string>

#include "harness/launch/launcher.h"
#include "harness/launch/row_processes.h"

namespace harness {

// After some command has failed. `out_of_memory`: the kernel has ended processes for want of memory
// meanwhile.
void explain_failure(Outcome& outcome, const RowProcesses& processes, const Launch& launch,
                     Progress& progress, const std::filesystem::path& directory, bool out_of_memory);

// After all ranks have ended although their launcher still waits.
void explain_missing_ranks(Outcome& outcome, const Launch& launch, Progress& progress,
                           const std::filesystem::path& directory);

}  // namespace harness
