// Replaces control and non-ASCII characters by blanks.
#include "harness/base/log_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

namespace base {

std::vector<std::string> log_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) {
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = ' ';
    if (line.find_first_not_of(" -") != std::string::npos) all.push_back(line);  // skips mpirun's rulers
  }
  return all;
}

std::string first_lines(const std::filesystem::path& file, size_t lines, const char* separator) {
  const std::vector<std::string> all = log_lines(file);
  return fmt::format("{}",
                     fmt::join(all.begin(), all.begin() + long(std::min(lines, all.size())), separator));
}

std::string last_lines(const std::filesystem::path& file, size_t lines, const char* separator) {
  const std::vector<std::string> all = log_lines(file);
  return fmt::format("{}", fmt::join(all.end() - long(std::min(lines, all.size())), all.end(), separator));
}

}  // namespace base
