// A temporary private folder for files that a row's processes keep outside the run's folder: sockets and
// shared memory of MPI, the cache of a mount.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "harness/base/file_lock.h"

namespace base {

class Scratch {
 public:
  // In the user's private folder in /dev/shm, or in the temporary folder. The path is short because it
  // contains sockets, whose paths are limited to 107 characters.
  Scratch();
  // In `place`, which is created if missing; the name begins with `prefix`. Removes folders with this prefix
  // whose lock is free: killed runs left them.
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
