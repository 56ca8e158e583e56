// The canaries of a night: the same fixed work before and after the rows.
#pragma once
#include <filesystem>
#include <map>
#include <ostream>
#include <string>

namespace harness {

using Canaries = std::map<std::string, double>;  // ms by name

// Runs `train_slice --canaries`. If this fails, prints a warning and returns no canaries.
Canaries measure_canaries(const std::filesystem::path& train_slice, std::ostream& console);

Canaries canaries_of_night(const Canaries& before, const Canaries& after);  // the mean of both

// For the night's summary: a line for each canary that changed by more than kCanaryDrift during the night.
std::string moved_canaries(const Canaries& before, const Canaries& after);

}  // namespace harness
