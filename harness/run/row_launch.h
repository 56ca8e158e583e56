// Runs one row's processes with their resources: a port, a scratch folder, two emulated nodes, an object
// store.
#pragma once
#include "harness/launch/launcher.h"
#include "harness/run/measure_row.h"

namespace harness {

// `directory`: the row's folder, with job.json. Throws std::runtime_error when a process or resource can't be
// started.
Outcome launch_row(const RowSetting& setting, const Row& row, const fs::path& directory, Progress& progress,
                   const Limits& limits, const std::function<void()>& tick);

}  // namespace harness
