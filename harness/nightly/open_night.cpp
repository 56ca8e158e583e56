// Writes a file per night in progress, and adds nights that ended early from their records.
#include "harness/nightly/open_night.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const fs::path& history, const std::string& id) { return history / "open" / (id + ".json"); }

// By its name, which is a night's id: base::time_and_host(), and a number where that was in use.
bool is_of(const std::string& host, const fs::path& file) {
  const std::string id = file.stem(), name = id.substr(std::min(id.find('-'), id.size() - 1) + 1);
  return name == host || (name.starts_with(host + "-") &&
                          name.find_first_not_of("0123456789", host.size() + 1) == std::string::npos);
}

// The last complete line: an incomplete one follows if the program ended while writing it.
std::optional<OpenNight> read_open_night(const fs::path& file) {
  std::optional<OpenNight> night;
  std::ifstream input(file);
  std::ostringstream unseen;
  base::read_json_lines(input, file, unseen, "line left out",
                        [&](const nlohmann::json& line, int) { night = decode<OpenNight>(line); });
  return night;
}

// Nullopt if there are no records to add. The records' files are not changed.
std::optional<Night> night_left_by(const OpenNight& open, std::ostream& console) {
  Records records;
  std::ostringstream warnings;
  try {
    records = read_records(open.run, warnings);
  } catch (const std::runtime_error&) {
    const fs::path run = open.run;
    std::error_code error;
    if (fs::exists(run, error) || error || !fs::is_directory(run.parent_path(), error)) throw;
    fmt::print(console, "night {} was cut short, and its folder {} no longer exists\n", open.id, open.run);
    return std::nullopt;
  }
  console << warnings.str();
  if (records.empty()) {
    fmt::print(console, "night {} was cut short before its first row ended\n", open.id);
    return std::nullopt;
  }
  fmt::print(console, "night {} was cut short: its {} records in {} are added to the history now\n", open.id,
             records.size(), open.run);
  return night_of(open, records);
}

}  // namespace

Night night_of(const OpenNight& open, const Records& records) {
  Night night = night_of(open.id, records);
  night.tag = open.tag;
  night.run = open.run;
  night.canaries = open.canaries;
  night.complete = open.finished;
  return night;
}

void write_open_night(const fs::path& history, const OpenNight& night) {
  std::error_code error;
  fs::create_directories(history / "open", error);
  append_record(file_of(history, night.id), encode(night));
}

void close_night(const fs::path& history, const std::string& id) {
  std::error_code gone;
  fs::remove(file_of(history, id), gone);
}

void adopt_open_nights(History& history, const std::string& host, std::ostream& console) {
  std::error_code none;
  for (const fs::path& file : base::entries_of(history.folder() / "open"))
    try {  // by time, as their names are
      const auto open = read_open_night(file);
      if (open && open->host != host) continue;
      // A file without a readable line comes from a night that ended before its first row, or another host is
      // just writing it.
      if (!open && !is_of(host, file)) continue;
      if (open && !history.holds(open->id))
        if (const auto night = night_left_by(*open, console)) history.append(*night);
      fs::remove(file, none);
    } catch (const std::runtime_error& error) {
      fmt::print(console, "{}; the next night tries again\n", error.what());
    }
}

std::string new_night_id(const History& history, const std::string& wanted) {
  std::string id = wanted;
  for (int i = 2; history.holds(id) || fs::exists(file_of(history.folder(), id)); ++i)
    id = fmt::format("{}-{}", wanted, i);
  return id;
}

}  // namespace harness
