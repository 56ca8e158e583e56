// A name for how a row trains, the same for rows that train alike.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace harness {

// 64 bits of the settings that make a row what it is, as hex; titles, notes and seeds don't count.
std::string config_hash(const nlohmann::json& config);

}  // namespace harness
