// A price file: what more of a resource costs.
#pragma once
#include <filesystem>

#include "harness/contract/record_commands.h"

namespace harness {

// YAML: `unit`, and at least one price, which may be 0; with `kWh` also `watts_per_gpu` and `watts_per_core`.
// Throws ConfigError with file and line.
Prices read_prices(const std::filesystem::path& file);

}  // namespace harness
