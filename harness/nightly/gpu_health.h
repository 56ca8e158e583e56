// What NVML told of a night's GPUs that an operator should look at.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// One sentence per GPU and fault, in the order of the records: uncorrected memory errors, rows of memory that
// wait for a reset or could not be replaced, errors of NVLinks, a PCIe link below what GPU and slot can,
// throttled clocks, a clock below kLeastClock of its maximum while a row ran. Empty without GPUs that tell.
std::vector<std::string> gpu_faults(const Records& records);

}  // namespace harness
