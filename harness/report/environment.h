// Environment: what a run's records say of the machine, of what disturbed it, and of what ran otherwise.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/grid.h"

namespace harness {

// Label and text: machine, build, libraries, data, times. Values that differ within the run all stand there.
std::vector<std::pair<std::string, std::string>> environment_facts(const Records& records);

Grid disturbance_grid(const Records& records);  // per row and repeat: load, steal, memory
Grid remarks_grid(const Records& records);      // notes, emulation, warnings, failed checks
Grid rank_grid(const Records& records);         // which rank of which row ran where

}  // namespace harness
