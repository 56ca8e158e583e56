#include "harness/nightly/history.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <future>
#include <set>
#include <stdexcept>
#include <thread>

#include "harness/base/file.h"
#include "harness/base/file_lock.h"
#include "harness/base/json_text.h"
#include "harness/base/moment.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kNightsPerThread = 200;  // at least; fewer are not worth a thread

NightEntry entry_of(const Night& night, uint64_t offset, uint64_t bytes) {
  const auto ok =
      std::count_if(night.rows.begin(), night.rows.end(), [](const NightRow& row) { return row.ok(); });
  return {night.id,          night.started_at,        night.tag,      night.machine,
          night.host,        night.revision,          night.complete, night.imported,
          night.rows.size(), static_cast<size_t>(ok), offset,         bytes};
}

uint64_t size_of(const fs::path& file) {
  std::error_code missing;
  const uint64_t size = fs::file_size(file, missing);
  return missing ? 0 : size;
}

// The entries of index.jsonl if they cover nights.jsonl completely and without gaps, otherwise none.
std::vector<NightEntry> fitting_index(const fs::path& folder) {
  std::vector<NightEntry> entries;
  std::ifstream input(folder / "index.jsonl");
  const uint64_t size = size_of(folder / "nights.jsonl");
  uint64_t end = 0;
  try {
    for (std::string line; std::getline(input, line);) {
      entries.push_back(decode<NightEntry>(base::require_json(line)));
      if (entries.back().offset != end || entries.back().bytes > size - end) return {};
      end += entries.back().bytes;
    }
  } catch (const std::exception&) {
    return {};
  }
  return end == size ? entries : std::vector<NightEntry>{};
}

}  // namespace

std::string why_not_locked(const fs::path& file, int error) {
  return fmt::format(
      "{}: can't be locked: {}; choose a writable folder with --history, on a file system with locks",
      file.string(), std::strerror(error));
}

History::History(fs::path folder, std::ostream& warnings) : folder_(std::move(folder)), warnings_(warnings) {
  load();
  for (size_t i = 1; i < entries_.size(); ++i)
    if (!entries_[i].imported && entries_[i].host == entries_[i - 1].host &&
        entries_[i].started_at < entries_[i - 1].started_at) {
      fmt::print(warnings_,
                 "{}: night {} began before {}, which was added earlier, so the clock of {} went backwards; "
                 "nights stay in the order in which they were added\n",
                 (folder_ / "nights.jsonl").string(), entries_[i].id, entries_[i - 1].id, entries_[i].host);
      break;
    }
}

void History::load() {
  entries_ = fitting_index(folder_);
  if (entries_.empty() && size_of(folder_ / "nights.jsonl") > 0) entries_ = scan();
  put_imported_in_their_place();
}

void History::put_imported_in_their_place() {
  const auto earlier = [](const NightEntry& a, const NightEntry& b) { return a.started_at < b.started_at; };
  const auto imported = std::stable_partition(entries_.begin(), entries_.end(),
                                              [](const NightEntry& it) { return !it.imported; });
  std::stable_sort(imported, entries_.end(), earlier);
  std::vector<NightEntry> ordered;
  auto next = imported;
  for (auto own = entries_.begin(); own != imported; ++own) {
    while (next != entries_.end() && earlier(*next, *own)) ordered.push_back(*next++);
    ordered.push_back(*own);
  }
  ordered.insert(ordered.end(), next, entries_.end());
  entries_ = std::move(ordered);
}

std::vector<NightEntry> History::scan() {
  std::vector<NightEntry> entries;
  const fs::path file = folder_ / "nights.jsonl";
  std::ifstream input(file, std::ios::binary);
  uint64_t offset = 0;
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    const uint64_t bytes = line.size() + (input.eof() ? 0 : 1);
    const json object = base::parse_json(line);
    try {
      if (object.is_discarded())
        throw std::runtime_error(
            input.eof() ? "the line is cut off, because the program ended while writing it" : "not JSON");
      entries.push_back(entry_of(night_from_json(object), offset, bytes));
    } catch (const std::runtime_error& error) {
      if (line.find_first_not_of(" \t\r") != std::string::npos)
        fmt::print(warnings_, "{}:{}: {}; night left out\n", file.string(), number, error.what());
    }
    offset += bytes;
  }
  return entries;
}

Night History::read(const NightEntry& entry) const {
  const fs::path file = folder_ / "nights.jsonl";
  std::ifstream input(file, std::ios::binary);
  std::string line(entry.bytes, '\0');
  input.seekg(static_cast<std::streamoff>(entry.offset));
  input.read(line.data(), static_cast<std::streamsize>(line.size()));
  try {
    return night_from_json(base::require_json(line));
  } catch (const std::exception& error) {
    throw std::runtime_error(
        fmt::format("{}: night {} at byte {}: {}; delete index.jsonl in the same folder, it is then rebuilt",
                    file.string(), entry.id, entry.offset, error.what()));
  }
}

std::vector<Night> History::read_all() const {
  struct Part {
    std::vector<Night> nights;
    std::string problems;
  };
  const auto read_part = [this](size_t begin, size_t end) {
    Part part;
    for (size_t i = begin; i < end; ++i) try {
        part.nights.push_back(read(entries_[i]));
      } catch (const std::runtime_error& error) {
        part.problems += error.what() + std::string("\n");
      }
    return part;
  };
  // Parsing thousands of nights takes time, so the cores share them.
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t share = std::max(kNightsPerThread, (entries_.size() + cores - 1) / cores);
  std::vector<std::future<Part>> parts;
  for (size_t begin = 0; begin < entries_.size(); begin += share)
    parts.push_back(
        std::async(std::launch::async, read_part, begin, std::min(begin + share, entries_.size())));
  std::vector<Night> nights;
  for (std::future<Part>& one : parts) {
    Part part = one.get();
    warnings_ << part.problems;
    std::move(part.nights.begin(), part.nights.end(), std::back_inserter(nights));
  }
  return nights;
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
  load();  // another program may have added nights since
  std::set<std::string> known;
  for (const NightEntry& entry : entries_) known.insert(entry.id);
  const size_t before = entries_.size();
  for (const Night& night : nights) {
    if (!known.insert(night.id).second) continue;
    const uint64_t offset = size_of(folder_ / "nights.jsonl");
    append_record(folder_ / "nights.jsonl", encode(night));
    entries_.push_back(entry_of(night, offset, size_of(folder_ / "nights.jsonl") - offset));
  }
  write_index();
  put_imported_in_their_place();
  return entries_.size() - before;
}

bool History::holds(const std::string& id) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.id == id; });
}

void History::write_index() const {
  const fs::path file = folder_ / "index.jsonl";
  std::vector<NightEntry> by_place = entries_;
  std::sort(by_place.begin(), by_place.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::string text;
  for (const NightEntry& entry : by_place) text += encode(entry).dump() + '\n';
  try {
    base::write_whole_file(file, text, /*durable=*/false);
  } catch (const std::runtime_error& error) {
    std::error_code ignored;
    fs::remove(file, ignored);
    fmt::print(warnings_, "{}; the history works without the index, but more slowly\n", error.what());
  }
}

const NightEntry& History::find(const std::string& which) const {
  if (entries_.empty()) throw std::invalid_argument(fmt::format("{}: no night yet", folder_.string()));
  for (const NightEntry& entry : entries_)
    if (entry.id == which) return entry;
  if (which == "last") return entries_.back();
  if (which.rfind("last-", 0) == 0) {
    const size_t back = std::strtoul(which.c_str() + 5, nullptr, 10);
    if (back > 0 && back < entries_.size()) return entries_[entries_.size() - 1 - back];
  }
  const std::string day = which == "yesterday" ? base::day_before_now(1) : which;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
    if (entry->tag == which || (base::is_day(day) && entry->started_at.rfind(day, 0) == 0)) return *entry;
  throw std::invalid_argument(fmt::format(
      "no night `{}` in {}: name an id, a tag, a date (2026-01-31), yesterday, last or last-N; the "
      "last is {} of {}",
      which, folder_.string(), entries_.back().id, entries_.back().started_at));
}

void History::narrow(const std::string& machine, const std::string& tag) {
  const bool was_empty = entries_.empty();
  std::erase_if(entries_, [&](const NightEntry& night) {
    return (night.machine.find(machine) == std::string::npos &&
            night.host.find(machine) == std::string::npos) ||
           (!tag.empty() && night.tag != tag);
  });
  if (entries_.empty() && !was_empty)
    throw std::invalid_argument(fmt::format(
        "{}: no night{}{}; `history list` without these options lists all nights", folder_.string(),
        machine.empty() ? "" : " of machine " + machine, tag.empty() ? "" : " with tag " + tag));
}

std::vector<NightEntry> History::between(const std::string& range) const {
  const auto [from, to] = base::moments_of(range);
  std::vector<NightEntry> chosen;
  for (const NightEntry& entry : entries_)
    if (entry.started_at >= from && entry.started_at <= to) chosen.push_back(entry);
  return chosen;
}

}  // namespace harness
