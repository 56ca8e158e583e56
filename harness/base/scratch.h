// A private folder for what a row's processes keep outside the run's folder: sockets and shared memory of
// MPI, the cache of a mount.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "harness/base/file_lock.h"

namespace base {

class Scratch {
 public:
  // In memory (the user's private folder in /dev/shm) where possible, with a short path: sockets lie in it,
  // and their names may have 107 characters.
  Scratch();
  // In `place`, made with it; names begin with `prefix`. Removes folders of that prefix that killed runs have
  // left: those whose lock nobody holds.
  Scratch(const std::filesystem::path& place, const std::string& prefix);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<base::FileLock> lock_;
};

}  // namespace base
