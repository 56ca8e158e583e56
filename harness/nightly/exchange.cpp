#include "harness/nightly/exchange.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "harness/base/json_text.h"

namespace harness {

using nlohmann::json;

size_t export_nights(const History& history, const std::vector<NightEntry>& nights, std::ostream& output) {
  for (const NightEntry& entry : nights) {
    Night night = history.read(entry);
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
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const json object = base::parse_json(line);
    try {
      if (object.is_discarded()) throw std::runtime_error("not JSON");
      nights.push_back(night_from_json(object));
      nights.back().imported = true;
    } catch (const std::runtime_error& error) {
      fmt::print(warnings, "{}:{}: {}; night left out\n", file.string(), number, error.what());
      ++imported.bad;
    }
  }
  if (!nights.empty()) imported.added = history.append_new(nights);
  imported.known = nights.size() - imported.added;
  return imported;
}

}  // namespace harness
