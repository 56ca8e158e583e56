// One nightly at a time on a host, because two would slow each other down.
#pragma once
#include <filesystem>
#include <string>

namespace harness {

// Held from construction to destruction, however the program ends. Hosts that share a history have a lock
// each: HISTORY/nightly-HOST.lock, with pid and time of its last holder.
class NightLock {
 public:
  // Throws PreparationError: who holds it and since when, or why the file can't be written.
  NightLock(const std::filesystem::path& history, const std::string& host);
  ~NightLock();
  NightLock(const NightLock&) = delete;
  NightLock& operator=(const NightLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace harness
