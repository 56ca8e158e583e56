#include "harness/contract/config_hash.h"

#include <fmt/format.h>

#include "harness/contract/row.h"

namespace harness {

std::string config_hash(const nlohmann::json& config) {
  nlohmann::json kept = config;
  for (const Field& field : fields())
    if (field.role == Role::descriptive || field.role == Role::measurement) kept.erase(field.name);
  // A field at its default is left out, so adding a field to the suite keeps the hash and thus the series of
  // nights.
  static const nlohmann::json defaults = to_json(Row());
  for (const auto& [field, value] : defaults.items())
    if (const auto found = kept.find(field); found != kept.end() && *found == value) kept.erase(found);
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, because std::hash may differ between builds
  for (unsigned char c : kept.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    hash = (hash ^ c) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

}  // namespace harness
