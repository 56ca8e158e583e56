// Counts brackets before parsing, so that deeply nested text can't overflow the stack.
#include "harness/base/json_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "harness/base/file.h"

namespace base {

using nlohmann::json;

// Counts brackets outside strings, before the parser allocates anything.
bool is_nested_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

json parse_json(std::string_view text) {
  if (is_nested_too_deep(text)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

json parse_json_file(const std::filesystem::path& file) try {
  return parse_json(read_file(file));
} catch (const std::runtime_error&) {
  return json(json::value_t::discarded);
}

json require_json(std::string_view text) try {
  if (is_nested_too_deep(text))
    throw std::runtime_error(fmt::format("JSON nested deeper than {} levels", kDeepestJson));
  return json::parse(text);
} catch (const json::parse_error& error) {
  throw std::runtime_error(error.byte > text.size() ? "the JSON is cut off"
                                                    : fmt::format("not JSON at byte {}", error.byte));
} catch (const json::out_of_range&) {
  throw std::runtime_error("the JSON has a number that is too large");
}

size_t read_json_lines(std::istream& input, const std::filesystem::path& file, std::ostream& warnings,
                       const std::string& consequence,
                       const std::function<void(nlohmann::json object, int line)>& take) {
  size_t bad = 0;
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
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
