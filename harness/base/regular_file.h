// Opening by name what must be a file: never a pipe, a device or a folder.
#pragma once
#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace base {

// An open file, or any descriptor, closed at the end of its life.
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
  // Opens a regular file for reading, without waiting for anything: opening a named pipe would wait for a
  // writer. A relative name is looked up in the folder with this descriptor.
  static RegularFile open(const char* file, int folder = AT_FDCWD);

  Descriptor descriptor;
  int64_t bytes = 0;
  std::string why;  // it isn't open: the reason, e.g. "a named pipe, not a regular file"
  bool is_open() const { return descriptor.number() >= 0; }
};

// "a folder", "a named pipe", ...: what a file with this mode is that is no regular one.
const char* kind_name(mode_t mode);

}  // namespace base
