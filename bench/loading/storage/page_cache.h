// Dropping, filling and proving the page-cache state of files: `cold` and `warm` are facts, not wishes.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace bench {

using FileList = std::vector<std::filesystem::path>;

// fdatasync + POSIX_FADV_DONTNEED on each file: works without root on clean pages that nobody has mapped.
void drop_from_page_cache(const FileList& files);
void read_into_page_cache(const FileList& files);

// Share of the files' pages that are resident, 0..1. Empty where the kernel won't tell the truth: mincore
// reports every page as resident for files that the process neither owns nor may write.
std::optional<double> resident_share(const FileList& files);

// Bytes that this process caused to be read from block devices so far (read_bytes of /proc/self/io; page
// faults and read-ahead of mapped files included). Empty where /proc/self/io is missing.
std::optional<int64_t> device_bytes_read();

}  // namespace bench
