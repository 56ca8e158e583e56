// Advice about a copy that can't be used. Only what make_dataset packed may be removed: everything else may
// be the only copy that a person has.
#include <fmt/format.h>

#include "bench/dataset/pack.h"
#include "bench/storage/storage.h"

namespace bench {

std::string pack_again(const std::string& kind, const std::filesystem::path& location) {
  if (location.empty()) return fmt::format("make it with `make_dataset pack --to {}`", kind);
  if (is_packed_copy(location))
    return fmt::format("remove the folder {}, and the next run packs it again (make_dataset pack --to {})",
                       location.string(), kind);
  return fmt::format(
      "make_dataset did not pack this folder, so restore it from where it came from, or make a copy of the "
      "data set's images with `make_dataset pack --to {}` and read that",
      kind);
}

}  // namespace bench
