// Lock files (flock). The kernel releases a lock when its process ends; locks also work between pid
// namespaces.
#pragma once
#include <filesystem>

namespace base {

// An open lock file, created if missing. Throws std::runtime_error with the file and the reason when it can't
// be opened or locked, or is a symbolic link.
class FileLock {
 public:
  enum class Kind { exclusive, shared };
  explicit FileLock(const std::filesystem::path& file, Kind kind = Kind::exclusive);  // blocks until granted
  // Does not wait: holds() is false when another process has the lock, or the file system has no locks.
  static FileLock try_exclusive(const std::filesystem::path& file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  bool holds() const { return holds_; }
  // False when the lock file was removed or replaced after it was opened: other processes then lock another
  // file.
  bool is_current() const;
  bool make_exclusive();  // does not wait; false when another process holds a shared lock

 private:
  FileLock(std::filesystem::path file, int operation, bool required);
  std::filesystem::path file_;
  int descriptor_ = -1;
  bool holds_ = false;
};

}  // namespace base
