// The machine's state in a night: the same fixed work before and after the rows, and what NVML told of its
// GPUs.
#pragma once
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

using Canaries = std::map<std::string, double>;  // ms by name

// Runs `train_slice --canaries`. If this fails, prints a warning and returns no canaries.
Canaries measure_canaries(const std::filesystem::path& train_slice, std::ostream& console);

Canaries canaries_of_night(const Canaries& before, const Canaries& after);  // the mean of both

// For the night's summary: a line for each canary that changed by more than kCanaryDrift during the night.
std::string moved_canaries(const Canaries& before, const Canaries& after);

// One sentence per GPU and fault, in the order of the records: uncorrected memory errors, rows of memory that
// wait for a reset or could not be replaced, errors of NVLinks, a PCIe link below what GPU and slot can,
// throttled clocks, a clock below kLeastClock of its maximum while a row ran. Empty without GPUs that tell.
std::vector<std::string> gpu_faults(const Records& records);

}  // namespace harness
