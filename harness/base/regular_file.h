// Opening a path that must be a regular file, not a pipe, a device or a folder.
#pragma once
#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace base {

// Owns a file descriptor and closes it on destruction.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }

 private:
  int number_;
};

struct RegularFile {
  // Opens a regular file for reading without blocking, also when the path is a named pipe. `folder`:
  // descriptor of the folder that relative paths start from.
  static RegularFile open(const char* file, int folder = AT_FDCWD);

  Descriptor descriptor;
  int64_t bytes = 0;
  int error = 0;    // errno of a failed open
  std::string why;  // when not open: the reason, e.g. "a named pipe, not a regular file"
  bool is_open() const { return descriptor.number() >= 0; }
};

// The type of a file that is not a regular one: "a folder", "a named pipe", "a socket" or "a device".
const char* kind_name(mode_t mode);

}  // namespace base
