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

FileLock::FileLock(fs::path file, int operation, bool required) : file_(std::move(file)) {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  holds_ = descriptor_ >= 0 && lock(descriptor_, operation);
  if (holds_ || !required) return;
  const int error = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  throw_write_error(file_, error);
}

FileLock::FileLock(const fs::path& file, Kind kind)
    : FileLock(file, kind == Kind::shared ? LOCK_SH : LOCK_EX, true) {}

FileLock FileLock::try_exclusive(const fs::path& file) { return {file, LOCK_EX | LOCK_NB, false}; }

FileLock::FileLock(FileLock&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      holds_(std::exchange(other.holds_, false)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FileLock::is_current() const {
  struct stat held {
  }, named{};
  return ::fstat(descriptor_, &held) == 0 && ::lstat(file_.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino;
}

bool FileLock::make_exclusive() { return lock(descriptor_, LOCK_EX | LOCK_NB); }

}  // namespace base
