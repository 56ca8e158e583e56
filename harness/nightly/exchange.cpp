#include "harness/nightly/exchange.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "harness/base/json_lines.h"

namespace harness {

using nlohmann::json;

size_t export_nights(std::vector<Night> nights, std::ostream& output) {
  for (Night& night : nights) {
    night.imported = false;  // set again by import_nights()
    output << encode(night).dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  }
  output.flush();
  if (!output) throw std::runtime_error("the export can't be written: free space or name another file");
  return nights.size();
}

Imported import_nights(History& history, const std::filesystem::path& file, std::ostream& warnings) {
  std::ifstream input(file);
  if (!input || std::filesystem::is_directory(file))
    throw std::invalid_argument(
        fmt::format("{}: {}; name a file that `history export` wrote", file.string(),
                    std::filesystem::is_directory(file) ? "is a folder" : std::strerror(errno)));
  Imported imported;
  std::vector<Night> nights;
  imported.bad = base::read_json_lines(input, file, warnings, "night left out", [&](const json& line, int) {
    nights.push_back(night_from_json(line));
    nights.back().imported = true;
  });
  if (!nights.empty()) imported.added = history.append_new(nights);
  imported.known = nights.size() - imported.added;
  return imported;
}

}  // namespace harness
