// Reads JSON lines: files to which a line is added at a time, by programs that may be killed within one.
#pragma once
#include <filesystem>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace base {

// Calls take(object, line number) for each line that isn't blank. A line that isn't JSON, or for which `take`
// throws std::runtime_error, costs no other one: a warning `FILE:LINE: why; CONSEQUENCE` is printed. Returns
// the number of such lines. `first`: the number of the first line of `input`.
size_t read_json_lines(std::istream& input, const std::filesystem::path& file, std::ostream& warnings,
                       const std::string& consequence,
                       const std::function<void(nlohmann::json object, int line)>& take, int first = 1);

}  // namespace base
