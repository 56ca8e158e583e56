// Recognises copies that make_dataset packed, and suggests the next step for unusable ones.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bench {

// Whether the name of a store's subfolder is a fingerprint: 16 lower-case hexadecimal digits.
bool is_fingerprint(const std::string& name);

// The content of the copy's pack.json; a discarded JSON value if it is missing or invalid.
nlohmann::json read_pack_record(const std::filesystem::path& folder);

// Whether make_dataset packed this folder: STORE/<fingerprint>/<name> with a pack.json that names the same
// fingerprint. A symbolic link to such a folder doesn't count.
bool is_packed_copy(const std::filesystem::path& folder);

// The next step, as text for error messages, for a copy at `location` that is missing, damaged or incomplete:
// remove it and pack again if make_dataset packed it, otherwise restore it. kind: a value of `make_dataset
// pack --to`.
std::string pack_again(const std::string& kind, const std::filesystem::path& location);

}  // namespace bench
