// Maps a file of a packed copy read-only, so that records can be decoded in place.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace bench {

// Unmaps the accessed pages of a read-only mapping of a file (MADV_DONTNEED); the next access maps them
// again.
void release_pages(std::span<const uint8_t> mapping);

// This process's mapping of the file by a library that doesn't tell its address. Empty if there is none or it
// is writable.
std::span<const uint8_t> mapping_of(const std::filesystem::path& file);

// Which mapped file a SIGBUS at the address is about, and what to do. `location`: of the storage's packed
// copy; empty if it has none.
std::string why_lost(const void* address, const std::string& storage, const std::string& location);

// Maps the file with its size at opening. Access beyond a later truncation is answered with SIGBUS, so a
// packed copy in use must not be modified.
class MappedFile {
 public:
  // readahead false: the kernel reads only pages that are accessed. Throws std::runtime_error with
  // `next_step` if the file can't be opened or mapped; an empty file gives empty bytes().
  MappedFile(const std::filesystem::path& file, bool readahead, const std::string& next_step);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return bytes_; }
  // Asks the kernel to read a range in the background (MADV_WILLNEED); does nothing if readahead is false.
  void will_need(size_t offset, size_t count) const;
  // Unmaps the pages that were accessed, so that they can be dropped from the page cache.
  void release_pages() const { bench::release_pages(bytes_); }

 private:
  std::span<const uint8_t> bytes_;
  bool readahead_;
};

// Reads a byte of each page, so that the time of page faults counts as reading, as with read(), and not as
// decoding. Of a record that is in memory it takes less than a microsecond.
void touch_pages(std::span<const uint8_t> bytes);

}  // namespace bench
