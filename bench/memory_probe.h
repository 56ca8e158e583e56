// Whether a row's share of a batch fits into its device's memory, tried with a few training steps on made-up
// images.
#pragma once
#include <nlohmann/json.hpp>

#include "harness/row.h"

namespace bench {

// {"images", "fits"}: the images of one device, and whether its memory held what training on them takes.
nlohmann::json probe_memory(const harness::Row& row);

}  // namespace bench
