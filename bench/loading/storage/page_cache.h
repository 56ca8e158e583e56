// Drops, fills and measures the page-cache state of files. The functions throw std::runtime_error if a file
// can't be opened or read.
#pragma once
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/file.h"

namespace bench {

using FileList = std::vector<std::filesystem::path>;

// fdatasync() and POSIX_FADV_DONTNEED on each file. Needs no root; drops clean pages that no process has
// mapped.
void drop_from_page_cache(const FileList& files);
// The same without fdatasync(), for files that are only read.
void drop_clean_pages(const FileList& files);
// How much the kernel reads ahead of a fault or a read of the file, a setting of its device or mount. Empty
// if it doesn't tell.
std::optional<int64_t> read_ahead_kb(const std::filesystem::path& file);
// Drops the kernel's directory entries and inodes of all files on this machine, which drop_from_page_cache()
// leaves (and, by opening the files, brings in). Returns why it could not, or an empty text; needs root.
std::string drop_metadata();
void read_into_page_cache(const FileList& files);
// Locks the files' pages in memory as long as the result lives. Else a kernel that reclaims pages before
// memory is short (DAMON, memory.high of a cgroup) evicts what a slow slice reads only minutes later. Null if
// they can't be locked: RLIMIT_MEMLOCK, more than half of the free memory, or as many files as mappings are
// allowed.
std::shared_ptr<const void> lock_in_memory(const FileList& files);

// Share of the files' pages that are resident, 0 to 1. Empty if mincore() is unreliable: it reports every
// page as resident for files that the process neither owns nor may write.
std::optional<double> resident_share(const FileList& files);

// A counter of /proc/<pid>/io, by its name there with the colon. Empty if it is missing.
std::optional<int64_t> counter_of(std::istream&& io, const char* wanted);

// Bytes that this process has caused to be read from block devices (read_bytes of /proc/self/io, which
// includes page faults and read-ahead of mapped files). Empty if /proc/self/io is missing.
std::optional<int64_t> device_bytes_read();

// Name of the network's or user-space file system that holds the file, for which the kernel may count no
// read_bytes. Empty: a local one, or unknown.
std::string remote_file_system(const std::filesystem::path& file);

// device_bytes_read() of the thread that constructs it, which alone may use it. A few microseconds per call.
class ThreadDeviceBytes {
 public:
  ThreadDeviceBytes();
  // Since the last call, the first: since construction. Empty if the kernel doesn't tell.
  std::optional<int64_t> since_last();

 private:
  std::optional<int64_t> total() const;

  base::Descriptor counter_;
  std::optional<int64_t> last_;
};

}  // namespace bench
