// Parses line by line; a damaged line is reported with its number and skipped.
#include "harness/base/json_lines.h"

#include <fmt/ostream.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "harness/base/json_text.h"

namespace base {

size_t read_json_lines(std::istream& input, const std::filesystem::path& file, std::ostream& warnings,
                       const std::string& consequence,
                       const std::function<void(nlohmann::json object, int line)>& take, int first) {
  size_t bad = 0;
  std::string line;
  for (int number = first; std::getline(input, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const bool cut_off = input.eof();  // no newline
    nlohmann::json object = parse_json(line);
    try {
      if (object.is_discarded())
        throw std::runtime_error(cut_off ? "the line is cut off; the program was stopped while writing it"
                                         : "not JSON, or nested too deep");
      take(std::move(object), number);
    } catch (const std::runtime_error& error) {
      fmt::print(warnings, "{}:{}: {}; {}\n", file.string(), number, error.what(), consequence);
      ++bad;
    }
  }
  if (input.bad())  // what was read is not all: no result from a part
    throw std::runtime_error(
        fmt::format("{}: can't be read to its end: {}", file.string(), std::strerror(errno)));
  return bad;
}

}  // namespace base
