// Records of a night, so that what compares runs compares nights too.
#pragma once
#include <optional>
#include <ostream>
#include <vector>

#include "harness/nightly/night.h"

namespace harness {

// The full records, as long as the folder of the night's run is where it was and is still that run.
std::optional<Records> full_records(const Night& night, std::ostream& warnings);

// What the history itself keeps, in the form of records: seconds of every repeat, one batch of the phases'
// means, the environment. Settings are known by their hash alone (`config_hash`), so these are compared
// with one another and not with full records.
Records thin_records(const Night& night);

}  // namespace harness
