// A file of a packed copy in memory, read-only: what its records are read from in place.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace bench {

// Holds the whole file as it was long when it was opened; a file that is cut off later ends the process with
// SIGBUS, so nothing may write to a packed copy that is in use.
class MappedFile {
 public:
  // readahead false: the kernel reads only the pages that are touched. Throws std::runtime_error with
  // `next_step` when there is no such file, or nothing in it.
  MappedFile(const std::filesystem::path& file, bool readahead, const std::string& next_step);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return bytes_; }
  // Has the kernel fetch a range from the disk in the background; does nothing with readahead false.
  void will_need(size_t offset, size_t count) const;

 private:
  std::span<const uint8_t> bytes_;
  bool readahead_;
};

}  // namespace bench
