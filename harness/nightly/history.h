// History: a folder of nights. Several programs may append to it and read it at the same time.
#pragma once
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/child_process.h"
#include "harness/nightly/night.h"

namespace harness {

// Percent-encoded as in a URL but for letters, digits, `.`, `_` and `-`: a name for a file.
std::string encoded(const std::string& name);

// A folder that any number of hosts write into at the same time, without locks: each night is a file of its
// own, night=2026-01-31/host=NAME/ID.json, which appears whole or not at all. Names are encoded().
// `history compact` puts the nights of past days into
// Parquet files (parquet_history.py); older versions wrote all nights into nights.jsonl. All three are read.
class History {
 public:
  // Leaves out damaged nights, with a warning that names the file. `project` contains
  // harness/nightly/parquet_history.py and .venv/, which read compacted nights. `host`: only its nights;
  // empty: all.
  History(std::filesystem::path folder, std::ostream& warnings, std::filesystem::path project = {},
          std::string host = "");

  // In order of the times at which they began.
  const std::vector<Night>& nights() const { return nights_; }
  // Limits nights() to those whose machine or host contains `machine` and whose tag is `tag`; empty: any. For
  // a history that is only read. Throws std::invalid_argument if none is left.
  void narrow(const std::string& machine, const std::string& tag);

  // Throws std::runtime_error when the file can't be written or a night with this id exists. The nights that
  // were there are then unchanged.
  void append(const Night& night);
  // Appends several nights except those whose id exists; returns the number of added nights.
  size_t append_new(const std::vector<Night>& nights);
  bool holds(const std::string& id) const;

  // `which`: an id, `last`, `last-N`, `yesterday`, or a tag or date, of which the latest night is returned.
  // Throws std::invalid_argument if there is no such night.
  const Night& find(const std::string& which) const;
  // `range`: `FROM:TO`, each a date, `now-30d` or `now`, both inclusive. Otherwise throws
  // std::invalid_argument.
  std::vector<Night> between(const std::string& range) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  bool add(Night night);  // false if it is there already

  std::filesystem::path folder_;
  std::ostream& warnings_;
  std::string host_;
  std::vector<Night> nights_;
  std::set<std::pair<std::string, std::string>> known_;  // id and host
};

// Python with `parquet_history.py ACTION HISTORY`, to which options can be added.
base::Command parquet_history(const std::filesystem::path& project, const char* action,
                              const std::filesystem::path& history);

inline constexpr const char* kNightsLock =
    "nightly-";  // and a host's name: which nightly holds while it runs
// Hosts, percent-encoded, of which a night began in the last week: their locks tell of those whose nights
// `history compact` has moved, and the days' folders of those that import their nights.
std::set<std::string> hosts_lately(const std::filesystem::path& history);

// Writes one line per night, each a Night as JSON, and returns the number of nights. Throws
// std::runtime_error when `output` fails.
size_t export_nights(std::vector<Night> nights, std::ostream& output);

struct Imported {
  size_t added = 0, known = 0, bad = 0;  // lines
};
// Leaves out lines that are not nights, with a warning file:line. Nights that the history already has count
// as known. Throws std::invalid_argument when the file can't be read, and as History::append_new() does.
// `folder`: the history's, made where it is missing; `project` as in History().
Imported import_nights(const std::filesystem::path& folder, const std::filesystem::path& file,
                       const std::filesystem::path& project, std::ostream& warnings);

}  // namespace harness
