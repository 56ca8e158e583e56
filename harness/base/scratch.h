// A temporary private folder for files that a row's processes keep outside the run's folder: sockets and
// shared memory of MPI, the cache of a mount.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "harness/base/file_lock.h"

namespace base {

// The calling user's folder in `place`, created if missing: owned by the user, mode 0700, not a symbolic
// link. All programs of the user get the same folder. When another user has taken its name, the name gets a
// random suffix. Throws std::runtime_error with the next step when it can't be created.
std::filesystem::path private_folder(const std::filesystem::path& place);

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
