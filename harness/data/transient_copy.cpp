#include "harness/data/transient_copy.h"

namespace harness {

TransientCopy::TransientCopy(std::filesystem::path location)
    : location_(std::move(location)), lock_file_(location_.string() + ".in-use") {
  do share_.emplace(lock_file_, base::FileLock::Kind::shared);
  while (!share_->is_current());
}

TransientCopy::~TransientCopy() {
  std::error_code ignored;
  if (!share_->make_exclusive()) return;
  std::filesystem::remove_all(location_, ignored);
  std::filesystem::remove(lock_file_, ignored);
}

}  // namespace harness
