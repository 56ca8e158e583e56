// Finds out why a row's processes failed, from the rank's report, its launcher's output or the kernel.
#pragma once
#include <filesystem>
#include <string>

#include "harness/launch/launcher.h"
#include "harness/launch/row_processes.h"

namespace harness {

// Sets status and reason after a command has failed. `out_of_memory`: the kernel's OOM killer has ended
// processes during the row.
void explain_failure(Outcome& outcome, const RowProcesses& processes, const Launch& launch,
                     Progress& progress, const std::filesystem::path& directory, bool out_of_memory);

// For ranks that don't start: OpenMPI's PMIx server may deadlock after it has run out of shared memory, and
// then neither it nor the ranks end. Sets status and reason and returns true if its output says so.
bool explain_deadlock(Outcome& outcome, const Launch& launch);

// Sets status and reason when all ranks have ended, but their launcher still runs.
void explain_missing_ranks(Outcome& outcome, const Launch& launch, Progress& progress,
                           const std::filesystem::path& directory);

}  // namespace harness
