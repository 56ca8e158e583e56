// Allows only one nightly at a time on a host, because two would slow each other down.
#pragma once
#include <filesystem>
#include <string>

namespace harness {

// Locked from construction to destruction; the lock also ends if the program is killed. Each host has its own
// lock file, HISTORY/nightly-HOST.lock, with pid and start time of its last holder.
class NightLock {
 public:
  // Throws PreparationError naming the holder, or when the file can't be written.
  NightLock(const std::filesystem::path& history, const std::string& host);
  ~NightLock();
  NightLock(const NightLock&) = delete;
  NightLock& operator=(const NightLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace harness
