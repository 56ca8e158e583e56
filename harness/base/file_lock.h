// Lock files (flock). The kernel releases a lock when its process ends; locks also work between pid
// namespaces.
#pragma once
#include <filesystem>

#include "harness/base/file.h"

namespace base {

// An open lock file, created if missing. Throws std::runtime_error with the file and the reason when it can't
// be opened or locked, or is a symbolic link.
class FileLock {
 public:
  enum class Kind { exclusive, shared };
  // Waits until granted; after 5 s it says who holds the lock. Throws as above when Ctrl-C ends the wait.
  explicit FileLock(const std::filesystem::path& file, Kind kind = Kind::exclusive);
  // Waits too. If the last holder removed the file meanwhile, creates and locks a new file of that name.
  static FileLock on_current(const std::filesystem::path& file, Kind kind = Kind::exclusive);
  // Waits, and throws nothing: of a folder that exists, where no lock file may stand beside it. holds() is
  // false on a file system without locks, and when Ctrl-C ends the wait.
  static FileLock of_folder(const std::filesystem::path& folder);
  // Does not wait: holds() is false when another process has the lock, or the file system has no locks.
  static FileLock try_exclusive(const std::filesystem::path& file);
  // Does not wait either. For a file that has another purpose: never creates it, and follows links.
  static FileLock try_existing(const std::filesystem::path& file);

  bool holds() const { return descriptor_.number() >= 0 && error_ == 0; }
  bool another_holds() const;
  int error() const { return error_; }  // errno of the failed open or lock
  // False when the lock file was removed or replaced after it was opened: other processes then lock another
  // file.
  bool is_current() const;
  bool make_exclusive();  // does not wait; false when another process holds a shared lock

 private:
  FileLock(std::filesystem::path file, int open_flags, int operation);
  std::filesystem::path file_;
  Descriptor descriptor_;
  int error_ = 0;
};

// A shared lock on the file `what`.in-use, beside what is used; waits while another process has it alone,
// e.g. to remove what is used. The last user removes the file. Throws as FileLock does.
class InUse {
 public:
  explicit InUse(const std::filesystem::path& what);
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  bool make_alone() { return lock_.make_exclusive(); }  // from now on, others wait; false if others use it

 private:
  std::filesystem::path file_;
  FileLock lock_;
};

}  // namespace base
