// Locks that end with the process that holds them, however it ends, and that processes in other pid
// namespaces of the machine see too.
#pragma once
#include <filesystem>

namespace base {

// An open lock file. Throws std::runtime_error with the file and the reason when it can't be opened or
// locked; it is never a symbolic link.
class FileLock {
 public:
  enum class Kind { exclusive, shared };
  explicit FileLock(const std::filesystem::path& file, Kind kind = Kind::exclusive);  // waits for others
  // Not locked (holds() is false) when another process has it, or when there are no locks.
  static FileLock try_exclusive(const std::filesystem::path& file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  bool holds() const { return holds_; }
  // Whether the lock's file still has its name: else it was removed meanwhile, and others lock another one.
  bool is_current() const;
  bool make_exclusive();  // without waiting; false when others have a share

 private:
  FileLock(std::filesystem::path file, int operation, bool required);
  std::filesystem::path file_;
  int descriptor_ = -1;
  bool holds_ = false;
};

}  // namespace base
