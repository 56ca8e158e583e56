// History: a folder of nights. Several programs may append to it and read it at the same time.
#pragma once
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/nightly/night.h"

namespace harness {

// A night's entry in the index, with which nights can be listed and selected without reading them.
struct NightEntry {
  std::string id, started_at, tag, machine, host, revision;
  bool complete = true, imported = false;
  size_t rows = 0, ok = 0;
  uint64_t offset = 0, bytes = 0;  // position and length of its line in nights.jsonl

  static constexpr auto keys() {
    constexpr auto required = Presence::required;
    return std::tuple(Key{"id", &NightEntry::id, "of the night", required},
                      Key{"started_at", &NightEntry::started_at, "UTC, ISO 8601", required},
                      Key{"tag", &NightEntry::tag, "free text", required},
                      Key{"machine", &NightEntry::machine, "fingerprint", required},
                      Key{"host", &NightEntry::host, "name of the machine", required},
                      Key{"revision", &NightEntry::revision, "of the sources", required},
                      Key{"complete", &NightEntry::complete, "it wasn't cut short", required},
                      Key{"imported", &NightEntry::imported, "came from another history", required},
                      Key{"rows", &NightEntry::rows, "of the night", required},
                      Key{"ok", &NightEntry::ok, "those with a figure", required},
                      Key{"offset", &NightEntry::offset, "of its line in nights.jsonl", required},
                      Key{"bytes", &NightEntry::bytes, "of that line", required});
  }
};

// Why a lock file in a history's folder can't be locked, with the next step. error: FileLock::error().
std::string why_not_locked(const std::filesystem::path& file, int error);

// nights.jsonl: one line per night, appended and fsynced, never changed. index.jsonl: one entry per line; it
// is rebuilt if it doesn't match nights.jsonl, so it may be deleted. Both are written under a lock on the
// folder (flock, which works over NFS since Linux 2.6.12), so nights can't be added on a file system without
// locks.
class History {
 public:
  // Leaves out damaged lines, with a warning file:line.
  History(std::filesystem::path folder, std::ostream& warnings);

  // In the order in which they were appended; imported nights are inserted by their time.
  const std::vector<NightEntry>& entries() const { return entries_; }
  // Limits entries() to nights whose machine or host contains `machine` and whose tag is `tag`; empty: any.
  // Throws std::invalid_argument if none is left. append() still accepts all nights.
  void narrow(const std::string& machine, const std::string& tag);
  // Throws std::runtime_error when the line can't be read.
  Night read(const NightEntry& entry) const;
  std::vector<Night> read_all() const;

  // Throws std::runtime_error when the folder can't be locked, the file can't be written or a night with this
  // id exists. The nights that were there are then unchanged.
  void append(const Night& night);
  // Appends several nights except those whose id exists; returns the number of added nights.
  size_t append_new(const std::vector<Night>& nights);
  bool holds(const std::string& id) const;

  // `which`: an id, `last`, `last-N`, `yesterday`, or a tag or date, of which the latest night is returned.
  // Throws std::invalid_argument if there is no such night.
  const NightEntry& find(const std::string& which) const;
  // `range`: `FROM:TO`, each a date, `now-30d` or `now`, both inclusive. Otherwise throws
  // std::invalid_argument.
  std::vector<NightEntry> between(const std::string& range) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  void load();
  std::vector<NightEntry> scan();
  void put_imported_in_their_place();
  void write_index() const;

  std::filesystem::path folder_;
  std::ostream& warnings_;
  std::vector<NightEntry> entries_;
};

}  // namespace harness
