// Drops, fills and measures the page-cache state of files. The functions throw std::runtime_error if a file
// can't be opened or read.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace bench {

using FileList = std::vector<std::filesystem::path>;

// fdatasync() and POSIX_FADV_DONTNEED on each file. Needs no root; drops clean pages that no process has
// mapped.
void drop_from_page_cache(const FileList& files);
void read_into_page_cache(const FileList& files);

// Share of the files' pages that are resident, 0 to 1. Empty if mincore() is unreliable: it reports every
// page as resident for files that the process neither owns nor may write.
std::optional<double> resident_share(const FileList& files);

// Bytes that this process has caused to be read from block devices (read_bytes of /proc/self/io, which
// includes page faults and read-ahead of mapped files). Empty if /proc/self/io is missing.
std::optional<int64_t> device_bytes_read();

}  // namespace bench
