// Reads nights from files of their own, from lines of older versions and from Parquet, and writes new ones.
#include "harness/nightly/history.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/base/time_stamp.h"

namespace harness {
namespace {

namespace fs = std::filesystem;

// A night per line. Lines that are none are left out, with a warning; `bad`, if given, becomes their number.
std::vector<Night> nights_in_lines(std::istream& input, const fs::path& file, std::ostream& warnings,
                                   size_t* bad = nullptr) {
  std::vector<Night> nights;
  const size_t left_out = base::read_json_lines(
      input, file, warnings, "night left out",
      [&](const nlohmann::json& line, int) { nights.push_back(night_from_json(line)); });
  if (bad) *bad = left_out;
  return nights;
}

std::string line_of(const Night& night) {
  return encode(night).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

fs::path file_of(const fs::path& history, const Night& night) {
  const std::string day = night.started_at.substr(0, 10);
  return history / ("night=" + (base::is_day(day) ? day : "1970-01-01")) / ("host=" + encoded(night.host)) /
         (encoded(night.id) + ".json");
}

std::vector<fs::path> sorted_entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  for (const fs::path& entry : base::entries_of(folder))
    if (entry.filename().string().starts_with(prefix)) found.push_back(entry);
  return found;
}

// In the order in which they were written, which decides between nights that began in the same second. Names
// that begin with a dot are drafts.
std::vector<fs::path> nights_of_day(const fs::path& day, const std::string& host) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code gone;
  for (const fs::path& of_host : sorted_entries(day, "host=" + encoded(host)))
    for (const fs::path& file : sorted_entries(of_host, ""))
      if (file.extension() == ".json" && !file.filename().string().starts_with("."))
        files.emplace_back(fs::last_write_time(file, gone), file);
  std::ranges::sort(files);
  std::vector<fs::path> ordered;
  for (auto& [time, file] : files) ordered.push_back(std::move(file));
  return ordered;
}

// Nights that `history compact` has put into Parquet files, from Python, which has a library for them.
std::istringstream compacted_nights(const fs::path& history, const fs::path& project, const std::string& host,
                                    std::ostream& warnings) {
  base::Command command = parquet_history(project, "nights", history);
  if (!host.empty()) command.arguments.insert(command.arguments.end(), {"--host", host});
  try {
    const base::Finished finished = base::run_to_end(command);
    if (finished.exit_code == 0) return std::istringstream(finished.output);
  } catch (const std::runtime_error&) {
  }
  fmt::print(warnings,
             "{}: its compacted nights are left out: {} could not read them; ./run_matrix once without "
             "--no-install installs what it needs\n",
             history.string(), command.arguments[1]);
  return {};
}

// Throws std::runtime_error if there is such a file, or it can't be written.
void write_new_file(const fs::path& file, const std::string& text) {
  base::make_folder(file.parent_path());
  const fs::path draft = file.parent_path() / fmt::format(".{}-{}", ::getpid(), file.filename().string());
  base::write_whole_file(draft, text);
  std::error_code error, gone;
  fs::create_hard_link(draft, file, error);        // unlike a renaming, it never replaces a file
  if (error && error != std::errc::file_exists) {  // a file system without links
    error = fs::exists(file) ? std::make_error_code(std::errc::file_exists) : std::error_code();
    if (!error) fs::rename(draft, file, error);
  }
  fs::remove(draft, gone);
  base::sync_folder(file.parent_path());
  if (error) throw std::runtime_error(fmt::format("{}: {}", file.string(), error.message()));
}

}  // namespace

std::string encoded(const std::string& name) {
  std::string text;
  for (const char c : name)
    text += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-'
                ? std::string(1, c)
                : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return text;
}

base::Command parquet_history(const fs::path& project, const char* action, const fs::path& history) {
  return {{project / ".venv/bin/python", project / "harness/nightly/parquet_history.py", action, history}};
}

std::set<std::string> hosts_lately(const fs::path& history) {
  constexpr int kDays = 7;
  std::set<std::string> hosts;
  const auto name = [](const fs::path& entry, size_t prefix) {
    return entry.filename().string().substr(prefix);
  };
  for (const fs::path& lock : sorted_entries(history, kNightsLock)) {
    std::error_code gone;
    if (fs::last_write_time(lock, gone) + std::chrono::days(kDays) > fs::file_time_type::clock::now())
      hosts.insert(encoded(lock.stem().string().substr(std::string(kNightsLock).size())));
  }
  for (const fs::path& day : sorted_entries(history, "night="))
    if (const std::string date = name(day, 6);
        date >= base::day_before_now(kDays) && date <= base::day_before_now(0))
      for (const fs::path& host : sorted_entries(day, "host=")) hosts.insert(name(host, 5));
  return hosts;
}

History::History(fs::path folder, std::ostream& warnings, fs::path project, std::string host)
    : folder_(std::move(folder)), warnings_(warnings), host_(std::move(host)) {
  std::vector<Night> found;
  const auto take = [&](std::vector<Night> some) { std::ranges::move(some, std::back_inserter(found)); };
  std::error_code none;
  if (fs::exists(folder_ / "records.jsonl", none))
    throw std::runtime_error(folder_.string() +
                             ": holds a run, no history; name the folder of one (--history)");
  if (const fs::path lines = folder_ / "nights.jsonl"; fs::exists(lines, none)) {
    std::istringstream input(base::read_file(lines));
    take(nights_in_lines(input, lines, warnings_));
  }
  bool compacted = false;
  for (const fs::path& day : sorted_entries(folder_, "night=")) {
    compacted = compacted || !sorted_entries(day, "compact-").empty();
    for (const fs::path& file : nights_of_day(day, host_)) try {
        found.push_back(night_from_json(base::require_json(base::read_file(file))));
      } catch (const std::runtime_error& error) {
        fmt::print(warnings_, "{}: night left out: {}\n", file.string(), error.what());
      }
  }
  if (compacted) {
    std::istringstream input = compacted_nights(folder_, project, host_, warnings_);
    take(nights_in_lines(input, "compacted nights", warnings_));
  }
  std::ranges::stable_sort(
      found, [](const Night& one, const Night& other) { return one.started_at < other.started_at; });
  for (Night& night : found) add(std::move(night));
}

bool History::add(Night night) {
  if (!host_.empty() && night.host != host_) return false;
  if (!known_.insert({night.id, night.host}).second) return false;
  const auto later = std::ranges::upper_bound(
      nights_, night, [](const Night& one, const Night& other) { return one.started_at < other.started_at; });
  nights_.insert(later, std::move(night));
  return true;
}

void History::append(const Night& night) {
  if (append_new({night}) == 0)
    throw std::runtime_error(
        fmt::format("{}: night {} is already in the history", folder_.string(), night.id));
  const auto later = std::ranges::find_if(nights_, [&](const Night& other) {
    return other.host == night.host && other.started_at > night.started_at;
  });
  if (later != nights_.end())
    fmt::print(
        warnings_,
        "night {} began before {}, which is in the history already: the clock of {} went backwards; nights "
        "are in order of their times\n",
        night.id, later->id, night.host);
}

size_t History::append_new(const std::vector<Night>& nights) {
  size_t added = 0;
  for (const Night& night : nights) {
    if (holds(night.id)) continue;
    write_new_file(file_of(folder_, night), line_of(night));
    add(night);
    ++added;
  }
  return added;
}

bool History::holds(const std::string& id) const {
  const auto first = known_.lower_bound({id, ""});
  return first != known_.end() && first->first == id;
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
    output << line_of(night);
  }
  output.flush();
  if (!output) throw std::runtime_error("the export can't be written: free space or name another file");
  return nights.size();
}

Imported import_nights(const fs::path& folder, const fs::path& file, const fs::path& project,
                       std::ostream& warnings) {
  std::ifstream input(file);
  if (!input || fs::is_directory(file))
    throw std::invalid_argument(fmt::format("{}: {}; name a file that `history export` wrote", file.string(),
                                            fs::is_directory(file) ? "is a folder" : std::strerror(errno)));
  Imported imported;
  std::vector<Night> nights = nights_in_lines(input, file, warnings, &imported.bad);
  std::set<std::string> hosts;
  for (Night& night : nights) {
    night.imported = true;
    hosts.insert(night.host);
  }
  if (nights.empty()) return imported;
  // A thousand hosts may each import their night: none reads the others'.
  History history(folder, warnings, project, hosts.size() == 1 ? *hosts.begin() : "");
  imported.added = history.append_new(nights);
  imported.known = nights.size() - imported.added;
  return imported;
}

}  // namespace harness
