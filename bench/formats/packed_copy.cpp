// Checks the folder's name and its record, so that a user's own data is never suggested for removal.
#include "bench/formats/packed_copy.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "harness/base/file.h"
#include "harness/base/json_text.h"

namespace bench {

namespace fs = std::filesystem;

bool is_fingerprint(const std::string& name) {
  return name.size() == 16 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::optional<PackRecord> read_pack_record(const fs::path& folder) {
  std::ifstream stream = base::open_regular(folder.string() + std::string(kPackRecord));
  if (!stream) return std::nullopt;
  try {
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    return harness::decode<PackRecord>(base::parse_json(text));
  } catch (const harness::Violation&) {
    return std::nullopt;
  }
}

bool is_packed_copy(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder / ".").lexically_normal().parent_path();  // no trailing slash
  const std::string fingerprint = whole.parent_path().filename().string();
  std::error_code missing;
  if (!is_fingerprint(fingerprint) || fs::symlink_status(whole, missing).type() != fs::file_type::directory)
    return false;
  const std::optional<PackRecord> record = read_pack_record(whole);
  return record && record->fingerprint == fingerprint;
}

// Suggests removing only what make_dataset packed: another folder may be the user's only copy.
std::string pack_again(const std::string& kind, const std::filesystem::path& location) {
  if (location.empty()) return fmt::format("make it with `make_dataset pack --to {}`", kind);
  if (is_packed_copy(location))
    return fmt::format("remove the folder {}, and the next run packs it again (make_dataset pack --to {})",
                       location.string(), kind);
  return fmt::format(
      "make_dataset did not pack this folder: restore what is damaged from its source, or make a copy "
      "of intact images with `make_dataset pack --to {}` and read that",
      kind);
}

}  // namespace bench
