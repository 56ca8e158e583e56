// A copy of the data that occupies memory: shared by the runs that use it, removed by the last of them.
#pragma once
#include <filesystem>
#include <optional>

#include "harness/base/file_lock.h"

namespace harness {

class TransientCopy {
 public:
  // Takes a share of the copy at `location` (a folder); waits while another run is removing it. The copy may
  // be gone by then, so make sure of it afterwards.
  explicit TransientCopy(std::filesystem::path location);
  ~TransientCopy();  // removes the copy unless another run still has a share
  TransientCopy(const TransientCopy&) = delete;
  TransientCopy& operator=(const TransientCopy&) = delete;

 private:
  std::filesystem::path location_, lock_file_;
  std::optional<base::FileLock> share_;
};

}  // namespace harness
