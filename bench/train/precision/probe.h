// Times a few steps of each precision on random data, so that a plan can skip modes that this CPU only
// emulates.
#pragma once
#include <map>
#include <string>

#include "harness/contract/row.h"

namespace bench {

// Returns {precision: ms of the fastest of five training steps} for the row's width and image size with at
// most 16 images, on the CPU.
std::map<std::string, double> probe_precisions(const harness::Row& row);

}  // namespace bench
