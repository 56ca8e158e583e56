// Leaves out descriptive fields and defaults, so that new fields don't change the hash of existing rows.
#include "harness/contract/config_hash.h"

#include <fmt/format.h>

#include "harness/contract/row.h"

namespace harness {

// FNV-1a, because std::hash may differ between builds.
static std::string hash_of(const nlohmann::json& value) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    hash = (hash ^ c) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

std::string config_hash(const nlohmann::json& config) {
  nlohmann::json kept = config;
  for (const Field& field : fields())
    if (!field.is_setting()) kept.erase(field.name);
  // A field at its default is left out, so adding a field to the suite keeps the hash and thus the series of
  // nights.
  static const nlohmann::json defaults = to_json(Row());
  for (const auto& [field, value] : defaults.items())
    if (const auto found = kept.find(field); found != kept.end() && *found == value) kept.erase(found);
  return hash_of(kept);
}

std::string emulation_hash(const std::optional<Emulation>& emulation) {
  return emulation ? hash_of(encode(*emulation)) : "";
}

}  // namespace harness
