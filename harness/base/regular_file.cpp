// Opens without blocking and checks the type of what was opened, so that no other file can take its place.
#include "harness/base/regular_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace base {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

const char* kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

RegularFile RegularFile::open(const char* file, int folder) {
  RegularFile opened;
  Descriptor descriptor(::openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat facts {};
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &facts) != 0) {
    opened.error = errno;
    opened.why = std::strerror(opened.error);
  } else if (!S_ISREG(facts.st_mode)) {
    opened.why = std::string(kind_name(facts.st_mode)) + ", not a regular file";
  } else {
    opened.descriptor = std::move(descriptor);
    opened.bytes = static_cast<int64_t>(facts.st_size);
  }
  return opened;
}

}  // namespace base
