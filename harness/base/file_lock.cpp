// Compares the locked file's inode with that of the name, to notice that the lock file was replaced.
#include "harness/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "harness/base/file.h"

namespace base {

namespace fs = std::filesystem;

static bool lock(int descriptor, int operation) {
  while (::flock(descriptor, operation) != 0)
    if (errno != EINTR) return false;
  return true;
}

static constexpr int kLockFile = O_CREAT | O_NOFOLLOW;

FileLock::FileLock(fs::path file, int open_flags, int operation) : file_(std::move(file)) {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CLOEXEC | open_flags, 0644);
  if (descriptor_ < 0 || !lock(descriptor_, operation)) error_ = errno;
}

FileLock::FileLock(const fs::path& file, Kind kind)
    : FileLock(file, kLockFile, kind == Kind::shared ? LOCK_SH : LOCK_EX) {
  if (!holds()) throw_write_error(file_, error_);
}

FileLock FileLock::on_current(const fs::path& file, Kind kind) {
  for (;;)
    if (FileLock lock(file, kind); lock.is_current()) return lock;
}

FileLock FileLock::wait_exclusive(const fs::path& file) { return {file, kLockFile, LOCK_EX}; }

FileLock FileLock::try_exclusive(const fs::path& file) { return {file, kLockFile, LOCK_EX | LOCK_NB}; }

FileLock FileLock::try_existing(const fs::path& file) { return {file, 0, LOCK_EX | LOCK_NB}; }

FileLock::FileLock(FileLock&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FileLock::another_holds() const { return error_ == EWOULDBLOCK; }

bool FileLock::is_current() const {
  struct stat held {
  }, named{};
  return ::fstat(descriptor_, &held) == 0 && ::lstat(file_.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino;
}

bool FileLock::make_exclusive() { return lock(descriptor_, LOCK_EX | LOCK_NB); }

}  // namespace base
