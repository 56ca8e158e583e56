// A hash of a row's configuration, equal for rows that train in the same way.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/contract/emulated_device.h"

namespace harness {

// 64-bit hash as hex. Fields of Role::descriptive and Role::measurement (titles, notes, seeds) are left out.
std::string config_hash(const nlohmann::json& config);

// The same of the device file's content and of the scale with which it is emulated; empty without a file.
std::string emulation_hash(const std::optional<Emulation>& emulation);

}  // namespace harness
