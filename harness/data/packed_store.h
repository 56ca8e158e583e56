// Locks on the packed copies in use.
#pragma once
#include <optional>

#include "harness/base/file_lock.h"
#include "harness/config/installation.h"

namespace harness {

// A shared lock on a data set's copies, STORE/<fingerprint>, until destruction; `make_dataset prune` doesn't
// remove locked copies. They may have been removed before the lock is held. On a file system without locks,
// prints a warning and continues.
class CopiesInUse {
 public:
  explicit CopiesInUse(const fs::path& folder);

 private:
  std::optional<base::InUse> use_;
};

// A copy of the data in memory, shared by several runs; the last one removes it.
class TransientCopy {
 public:
  // Waits while another run removes the copy in folder `location`. The caller must check afterwards that it
  // still exists.
  explicit TransientCopy(const std::filesystem::path& location) : location_(location), use_(location) {}
  ~TransientCopy();  // removes the copy unless another run uses it

 private:
  std::filesystem::path location_;
  base::InUse use_;
};

}  // namespace harness
