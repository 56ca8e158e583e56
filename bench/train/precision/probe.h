// A few steps of each precision on made-up data, so that a plan can skip modes that this processor only
// emulates.
#pragma once
#include <nlohmann/json.hpp>

#include "harness/contract/row.h"

namespace bench {

// {precision: ms of the fastest of five training steps} at the row's width, image size and at most 16 images,
// on one device.
nlohmann::json probe_precisions(const harness::Row& row);

}  // namespace bench
