// A private folder for what a row's processes keep outside the run's folder: sockets and shared memory of
// MPI, the cache of a mount.
#pragma once
#include <filesystem>
#include <string>

namespace harness {

class Scratch {
 public:
  // In memory (/dev/shm) where possible, with a short path: sockets lie in it, and their names may have 107
  // characters. Removes folders that killed runs have left.
  Scratch();
  // In `place`, made with it; names begin with `prefix` and end in our process number.
  Scratch(const std::filesystem::path& place, const std::string& prefix);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace harness
