// A copy of the data in memory, shared by several runs; the last one removes it.
#pragma once
#include <filesystem>
#include <optional>

#include "harness/base/file_lock.h"

namespace harness {

class TransientCopy {
 public:
  // Takes a shared lock on the copy in folder `location`; waits while another run removes it. The caller must
  // check afterwards that the copy still exists.
  explicit TransientCopy(std::filesystem::path location);
  ~TransientCopy();  // removes the copy unless another run uses it
  TransientCopy(const TransientCopy&) = delete;
  TransientCopy& operator=(const TransientCopy&) = delete;

 private:
  std::filesystem::path location_, lock_file_;
  std::optional<base::FileLock> share_;
};

}  // namespace harness
