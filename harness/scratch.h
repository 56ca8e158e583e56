// A private folder for what a row's processes keep outside the run's folder: sockets and shared memory of
// MPI.
#pragma once
#include <filesystem>

namespace harness {

class Scratch {
 public:
  // In memory (/dev/shm) where possible, with a short path: sockets lie in it, and their names may have 107
  // characters. Removes folders that killed runs have left.
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace harness
