// The canaries of a night: the same fixed work before and after the rows.
#pragma once
#include <filesystem>
#include <map>
#include <ostream>
#include <string>

namespace harness {

using Canaries = std::map<std::string, double>;  // ms by name

// Asks `train_slice --canaries`. Empty, with a line on `console`, when that fails: a night goes on without.
Canaries measure_canaries(const std::filesystem::path& train_slice, std::ostream& console);

// The middle of both. A canary that moved by more than kCanaryDrift during the night is named on `console`.
inline constexpr double kCanaryDrift = 0.10;
Canaries canaries_of_night(const Canaries& before, const Canaries& after, std::ostream& console);

}  // namespace harness
