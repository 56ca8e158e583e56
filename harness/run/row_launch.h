// One row's processes from first to last, with what they need around them: a port, a scratch folder, two
// nodes, an object store.
#pragma once
#include "harness/launch/launcher.h"
#include "harness/run/measure_row.h"

namespace harness {

// `directory` holds job.json. Throws std::runtime_error when nothing could be started.
Outcome launch_row(const RowSetting& setting, const Row& row, const fs::path& directory, Progress& progress,
                   const Limits& limits, const std::function<void()>& tick);

}  // namespace harness
