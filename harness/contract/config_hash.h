// A hash of a row's configuration, equal for rows that train in the same way.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace harness {

// 64-bit hash as hex. Fields of Role::descriptive and Role::measurement (titles, notes, seeds) are left out.
std::string config_hash(const nlohmann::json& config);

}  // namespace harness
