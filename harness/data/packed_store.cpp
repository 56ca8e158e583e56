// Holds a shared lock beside each copy in use.
#include "harness/data/packed_store.h"

#include "harness/base/say.h"

namespace harness {

CopiesInUse::CopiesInUse(const fs::path& folder) {
  try {
    use_.emplace(folder);
  } catch (const std::runtime_error& error) {
    base::say("{}; don't run `make_dataset prune` on {} during this run\n", error.what(),
              folder.parent_path().string());
  }
}

TransientCopy::~TransientCopy() {
  if (!use_.make_alone()) return;
  // Renamed first: a removal that ends halfway must not leave what looks like a finished copy. Packing
  // removes the rest.
  std::error_code ignored;
  fs::path rest = location_;
  rest += ".partial";
  fs::rename(location_, rest, ignored);
  fs::remove_all(rest, ignored);
}

}  // namespace harness
