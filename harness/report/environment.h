// Environment: the machine of a run, disturbances during it, and differences from its configuration.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/grid.h"

namespace harness {

// Label and text: machine, build, libraries, data, times. If a value differs within the run, all are listed.
std::vector<std::pair<std::string, std::string>> environment_facts(const Records& records);

Grid disturbance_grid(const Records& records);  // per row and repeat: load, steal, memory
Grid remarks_grid(const Records& records);      // notes, emulation, warnings, failed checks
Grid rank_grid(const Records& records);         // node, host, device and cores of each rank of each row

}  // namespace harness
