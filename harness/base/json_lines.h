// Reads JSON Lines files, in which a line may be incomplete because a program was killed while writing it.
#pragma once
#include <filesystem>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace base {

// Calls take(object, line number) for each line that isn't blank. Skips lines that aren't JSON or for which
// `take` throws std::runtime_error, after printing the warning `FILE:LINE: why; CONSEQUENCE`. Returns how
// many it skipped. `first`: the number of the first line of `input`.
size_t read_json_lines(std::istream& input, const std::filesystem::path& file, std::ostream& warnings,
                       const std::string& consequence,
                       const std::function<void(nlohmann::json object, int line)>& take, int first = 1);

}  // namespace base
