// History: a folder of nights. Several programs may append to it and read it at the same time.
#pragma once
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "harness/nightly/night.h"

namespace harness {

// Why a lock file in a history's folder can't be locked, with the next step. error: FileLock::error().
std::string why_not_locked(const std::filesystem::path& file, int error);

// nights.jsonl: one line per night, appended and fsynced, never changed. It is written under a lock on the
// folder (flock, which works over NFS since Linux 2.6.12), so nights can't be added on a file system without
// locks.
class History {
 public:
  // Leaves out damaged lines, with a warning file:line.
  History(std::filesystem::path folder, std::ostream& warnings);

  // In the order in which they were appended; imported nights are inserted by their time.
  const std::vector<Night>& nights() const { return nights_; }
  // Limits nights() to those whose machine or host contains `machine` and whose tag is `tag`; empty: any. For
  // a history that is only read. Throws std::invalid_argument if none is left.
  void narrow(const std::string& machine, const std::string& tag);

  // Throws std::runtime_error when the folder can't be locked, the file can't be written or a night with this
  // id exists. The nights that were there are then unchanged.
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
  std::filesystem::path file() const { return folder_ / "nights.jsonl"; }
  void load();
  void put_imported_in_their_place();

  std::filesystem::path folder_;
  std::ostream& warnings_;
  std::vector<Night> nights_;
  uint64_t bytes_ = 0;  // of the file, as it was read
};

// Writes one line per night, in the format of nights.jsonl, and returns the number of nights. Throws
// std::runtime_error when `output` fails.
size_t export_nights(std::vector<Night> nights, std::ostream& output);

struct Imported {
  size_t added = 0, known = 0, bad = 0;  // lines
};
// Leaves out lines that are not nights, with a warning file:line. Nights that the history already has count
// as known. Throws std::invalid_argument when the file can't be read, and as History::append_new() does.
Imported import_nights(History& history, const std::filesystem::path& file, std::ostream& warnings);

}  // namespace harness
