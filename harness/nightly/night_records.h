// Records of a night, so that nights can be compared like runs.
#pragma once
#include <optional>
#include <ostream>
#include <vector>

#include "harness/nightly/night.h"

namespace harness {

// The full records; nullopt if the folder of the night's run is gone or contains another run.
std::optional<Records> full_records(const Night& night, std::ostream& warnings);

// The history's own data as records: the time of every repeat, one batch with the means of the phases, and
// the environment. Instead of settings they have only `config_hash`, so don't compare them with full ones.
Records thin_records(const Night& night);

}  // namespace harness
