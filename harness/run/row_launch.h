// Runs one row's processes with their resources: a port, a scratch folder, two emulated nodes, an object
// store.
#pragma once
#include "harness/launch/launcher.h"
#include "harness/run/measure_row.h"

namespace harness {

// `directory`: the row's folder, with job.json. Throws std::runtime_error when a process or resource can't be
// started.
Outcome launch_row(const RowSetting& setting, const Row& row, const fs::path& directory, Progress& progress,
                   const TimeLimits& limits, const std::function<void()>& tick);

// Where the row's ranks ran, in one line: `rank_map` of a record, with ranks of the same host and cores
// combined: "ranks 0-3 on node0 (cpu:0 to cpu:3, cores 0-1), 4-7 on node1 (...)".
std::string rank_map_text(const std::vector<RankPlace>& rank_map);

}  // namespace harness
