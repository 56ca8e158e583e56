// How a copy that make_dataset packed is told from other folders, and what to do about one that can't be
// used.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bench {

// Whether a folder of a store has the name of a data set's fingerprint: 16 hexadecimal digits.
bool is_fingerprint(const std::string& name);

// pack.json, what a copy says of itself; a discarded value where that is missing or no JSON.
nlohmann::json read_pack_record(const std::filesystem::path& folder);

// Whether make_dataset packed this folder: STORE/<fingerprint>/<name> with a pack.json that names the same
// fingerprint. A link to such a folder is none.
bool is_packed_copy(const std::filesystem::path& folder);

// What to do about a copy at `location` that is missing, damaged or not whole: to remove it and pack again,
// if make_dataset packed it, and else to restore it. kind: as `make_dataset pack --to` takes it.
std::string pack_again(const std::string& kind, const std::filesystem::path& location);

}  // namespace bench
