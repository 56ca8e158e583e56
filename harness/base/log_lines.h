// What programs wrote before they ended, fit to be shown on one line of a terminal and kept in a record.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace base {

// The lines of a file that hold a word; other characters than printable ASCII become blanks. Empty when there
// is no such file.
std::vector<std::string> log_lines(const std::filesystem::path& file);

// At most that many, joined by `separator`.
std::string first_lines(const std::filesystem::path& file, size_t lines, const char* separator);
std::string last_lines(const std::filesystem::path& file, size_t lines, const char* separator);

}  // namespace base
