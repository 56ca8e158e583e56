// Parsing untrusted JSON: from files and from the output of other programs.
#pragma once
#include <filesystem>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

namespace base {

// Very deep values overflow the stack when they are copied or printed. Records are nested at most 10 levels
// deep.
inline constexpr int kDeepestJson = 100;
bool is_nested_too_deep(std::string_view text);

// Returns a discarded value (is_discarded()) when the text isn't JSON or is nested deeper than kDeepestJson.
nlohmann::json parse_json(std::string_view text);

// parse_json() of a file's content; also discarded when the file can't be read.
nlohmann::json parse_json_file(const std::filesystem::path& file);

// Throws std::runtime_error with the reason where parse_json() returns a discarded value.
nlohmann::json require_json(std::string_view text);

// Calls take(object, line number) for each line that isn't blank. Skips lines that aren't JSON or for which
// `take` throws std::runtime_error, after printing the warning `FILE:LINE: why; CONSEQUENCE`. Returns how
// many it skipped.
size_t read_json_lines(std::istream& input, const std::filesystem::path& file, std::ostream& warnings,
                       const std::string& consequence,
                       const std::function<void(nlohmann::json object, int line)>& take);

}  // namespace base
