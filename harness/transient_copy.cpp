#include "harness/transient_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace harness {

// Whether the descriptor is still the file of that name, and not one that was removed meanwhile.
static bool is_current(int descriptor, const std::filesystem::path& file) {
  struct stat held {
  }, named{};
  return ::fstat(descriptor, &held) == 0 && ::stat(file.c_str(), &named) == 0 && held.st_ino == named.st_ino;
}

TransientCopy::TransientCopy(std::filesystem::path location)
    : location_(std::move(location)), lock_file_(location_.string() + ".in-use") {
  for (;;) {
    lock_ = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0 || ::flock(lock_, LOCK_SH) != 0)
      throw std::runtime_error(
          fmt::format("{}: can't be locked: {}", lock_file_.string(), std::strerror(errno)));
    if (is_current(lock_, lock_file_)) return;
    ::close(lock_);
  }
}

TransientCopy::~TransientCopy() {
  std::error_code ignored;
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    std::filesystem::remove_all(location_, ignored);
    std::filesystem::remove(lock_file_, ignored);
  }
  ::close(lock_);
}

}  // namespace harness
