// Parses the file with several threads, appends under a lock, and sorts imported nights in by time.
#include "harness/nightly/history.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <future>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "harness/base/file_lock.h"
#include "harness/base/json_lines.h"
#include "harness/base/time_stamp.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBytesPerThread = 2'000'000;  // at least; fewer are not worth a thread

uint64_t size_of(const fs::path& file) {
  std::error_code missing;
  const uint64_t size = fs::file_size(file, missing);
  return missing ? 0 : size;
}

struct Part {  // of the file
  std::vector<Night> nights;
  std::ostringstream problems;
};

Part read_part(const fs::path& file, std::string text, int first_line) {
  Part part;
  std::istringstream input(std::move(text));
  base::read_json_lines(
      input, file, part.problems, "night left out",
      [&](const nlohmann::json& line, int) { part.nights.push_back(night_from_json(line)); }, first_line);
  return part;
}

}  // namespace

std::string why_not_locked(const fs::path& file, int error) {
  return fmt::format(
      "{}: can't be locked: {}; choose a writable folder with --history, on a file system with locks",
      file.string(), std::strerror(error));
}

History::History(fs::path folder, std::ostream& warnings) : folder_(std::move(folder)), warnings_(warnings) {
  load();
  for (size_t i = 1; i < nights_.size(); ++i)
    if (!nights_[i].imported && nights_[i].host == nights_[i - 1].host &&
        nights_[i].started_at < nights_[i - 1].started_at) {
      fmt::print(warnings_,
                 "{}: night {} began before {}, which was added earlier, so the clock of {} went backwards; "
                 "nights stay in the order in which they were added\n",
                 file().string(), nights_[i].id, nights_[i - 1].id, nights_[i].host);
      break;
    }
}

// Parsing thousands of nights takes time, so the cores share them.
void History::load() {
  std::string text(size_of(file()), '\0');
  std::ifstream input(file(), std::ios::binary);
  input.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(input.gcount()));
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t share = std::max(kBytesPerThread, text.size() / cores + 1);
  std::vector<std::future<Part>> parts;
  int line = 1;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = std::min(text.find('\n', std::min(begin + share, text.size()) - 1), text.size() - 1) + 1;
    std::string lines = text.substr(begin, end - begin);
    const auto number = std::count(lines.begin(), lines.end(), '\n');
    parts.push_back(std::async(std::launch::async, read_part, file(), std::move(lines), line));
    line += int(number);
  }
  nights_.clear();
  bytes_ = text.size();
  for (std::future<Part>& one : parts) {
    Part part = one.get();
    warnings_ << part.problems.str();
    std::move(part.nights.begin(), part.nights.end(), std::back_inserter(nights_));
  }
  put_imported_in_their_place();
}

void History::put_imported_in_their_place() {
  const auto earlier = [](const Night& a, const Night& b) { return a.started_at < b.started_at; };
  const auto imported =
      std::stable_partition(nights_.begin(), nights_.end(), [](const Night& it) { return !it.imported; });
  std::stable_sort(imported, nights_.end(), earlier);
  std::vector<Night> ordered;
  auto next = imported;
  for (auto own = nights_.begin(); own != imported; ++own) {
    while (next != nights_.end() && earlier(*next, *own)) ordered.push_back(std::move(*next++));
    ordered.push_back(std::move(*own));
  }
  std::move(next, nights_.end(), std::back_inserter(ordered));
  nights_ = std::move(ordered);
}

void History::append(const Night& night) {
  if (append_new({night}) == 0)
    throw std::runtime_error(
        fmt::format("{}: night {} is already in the history", folder_.string(), night.id));
}

size_t History::append_new(const std::vector<Night>& nights) {
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path lock_file = folder_ / "lock";
  const auto one_writer = base::FileLock::wait_exclusive(lock_file);  // on all hosts that share the folder
  if (!one_writer.holds()) throw std::runtime_error(why_not_locked(lock_file, one_writer.error()));
  if (size_of(file()) != bytes_) load();  // another program has added nights since
  std::set<std::string> known;
  for (const Night& night : nights_) known.insert(night.id);
  const size_t before = nights_.size();
  for (const Night& night : nights) {
    if (!known.insert(night.id).second) continue;
    append_record(file(), encode(night));
    bytes_ = size_of(file());
    nights_.push_back(night);
  }
  put_imported_in_their_place();
  return nights_.size() - before;
}

bool History::holds(const std::string& id) const {
  return std::any_of(nights_.begin(), nights_.end(), [&](const Night& night) { return night.id == id; });
}

const Night& History::find(const std::string& which) const {
  if (nights_.empty()) throw std::invalid_argument(fmt::format("{}: no night yet", folder_.string()));
  for (const Night& night : nights_)
    if (night.id == which) return night;
  if (which == "last") return nights_.back();
  if (which.rfind("last-", 0) == 0) {
    const size_t back = std::strtoul(which.c_str() + 5, nullptr, 10);
    if (back > 0 && back < nights_.size()) return nights_[nights_.size() - 1 - back];
  }
  const std::string day = which == "yesterday" ? base::day_before_now(1) : which;
  for (auto night = nights_.rbegin(); night != nights_.rend(); ++night)
    if (night->tag == which || (base::is_day(day) && night->started_at.rfind(day, 0) == 0)) return *night;
  throw std::invalid_argument(
      fmt::format("no night `{}` in {}: name an id, a tag, a date (2026-01-31), yesterday, last or last-N; "
                  "the last is {} of {}",
                  which, folder_.string(), nights_.back().id, nights_.back().started_at));
}

void History::narrow(const std::string& machine, const std::string& tag) {
  const bool was_empty = nights_.empty();
  std::erase_if(nights_, [&](const Night& night) {
    return (night.machine.find(machine) == std::string::npos &&
            night.host.find(machine) == std::string::npos) ||
           (!tag.empty() && night.tag != tag);
  });
  if (nights_.empty() && !was_empty)
    throw std::invalid_argument(fmt::format(
        "{}: no night{}{}; `history list` without these options lists all nights", folder_.string(),
        machine.empty() ? "" : " of machine " + machine, tag.empty() ? "" : " with tag " + tag));
}

std::vector<Night> History::between(const std::string& range) const {
  const auto [from, to] = base::time_stamps_of(range);
  std::vector<Night> chosen;
  for (const Night& night : nights_)
    if (night.started_at >= from && night.started_at <= to) chosen.push_back(night);
  return chosen;
}

size_t export_nights(std::vector<Night> nights, std::ostream& output) {
  for (Night& night : nights) {
    night.imported = false;  // set again by import_nights()
    output << encode(night).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }
  output.flush();
  if (!output) throw std::runtime_error("the export can't be written: free space or name another file");
  return nights.size();
}

Imported import_nights(History& history, const fs::path& file, std::ostream& warnings) {
  std::ifstream input(file);
  if (!input || fs::is_directory(file))
    throw std::invalid_argument(fmt::format("{}: {}; name a file that `history export` wrote", file.string(),
                                            fs::is_directory(file) ? "is a folder" : std::strerror(errno)));
  Imported imported;
  std::vector<Night> nights;
  imported.bad =
      base::read_json_lines(input, file, warnings, "night left out", [&](const nlohmann::json& line, int) {
        nights.push_back(night_from_json(line));
        nights.back().imported = true;
      });
  if (!nights.empty()) imported.added = history.append_new(nights);
  imported.known = nights.size() - imported.added;
  return imported;
}

}  // namespace harness
