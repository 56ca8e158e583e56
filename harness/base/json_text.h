// JSON from files and from other programs, whatever they hold.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace base {

// No record of the suite is nested deeper than 10. Deeper values than this one's overflow the stack when they
// are copied or printed.
inline constexpr int kDeepestJson = 100;
bool is_nested_too_deep(std::string_view text);

// The value, or a discarded one (is_discarded()) when the text isn't JSON or is nested deeper than
// kDeepestJson.
nlohmann::json parse_json(std::string_view text);

// The same for a file; discarded too when it can't be read.
nlohmann::json parse_json_file(const std::filesystem::path& file);

// The same, but throws std::runtime_error that says what is wrong.
nlohmann::json require_json(std::string_view text);

}  // namespace base
