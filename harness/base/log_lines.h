// Lines from log files of other programs, made safe for a terminal and a record.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace base {

// The lines of a file, without lines of only blanks and dashes; characters other than printable ASCII become
// blanks. Returns an empty list when the file can't be read.
std::vector<std::string> log_lines(const std::filesystem::path& file);

// The first or last `lines` of them, joined by `separator`.
std::string first_lines(const std::filesystem::path& file, size_t lines, const char* separator);
std::string last_lines(const std::filesystem::path& file, size_t lines, const char* separator);

}  // namespace base
