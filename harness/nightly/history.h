// History: one folder of nights that many programs may append to and read at any time.
#pragma once
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/nightly/night.h"

namespace harness {

// What the index holds of a night: enough to list and to choose without reading all.
struct NightEntry {
  std::string id, started_at, tag, machine, host, revision;
  bool complete = true, imported = false;
  size_t rows = 0, ok = 0;
  uint64_t offset = 0, bytes = 0;  // of its line in nights.jsonl
};

// nights.jsonl: one line a night, appended and fsynced, never changed. index.jsonl: one line for each of
// them, made anew whenever the two don't fit together, so that it may be deleted. Both are written under a
// lock on the folder (flock, which NFS passes on from Linux 2.6.12 on).
class History {
 public:
  // Damaged lines and the like are named as file:line in `warnings` and left out.
  History(std::filesystem::path folder, std::ostream& warnings);

  // In the order in which they were appended, but for imported ones, which stand where their time belongs. A
  // clock that went backwards is named in `warnings` once.
  const std::vector<NightEntry>& entries() const { return entries_; }
  // Looks from here on at the nights alone whose machine or host contains `machine` and whose tag is `tag`;
  // empty: any. Throws std::invalid_argument when none is left. What is appended is kept whatever it is.
  void narrow(const std::string& machine, const std::string& tag);
  // Throws std::runtime_error when the line can't be read any more.
  Night read(const NightEntry& entry) const;
  std::vector<Night> read_all() const;

  // Throws std::runtime_error naming the file and the next step; what the history held is then unchanged. A
  // night whose id the history holds already is refused.
  void append(const Night& night);
  // The same for many at once, leaving out those whose id is there; returns how many were added.
  size_t append_new(const std::vector<Night>& nights);
  bool holds(const std::string& id) const;

  // By id, `last`, `last-N`, a tag (its latest night), `yesterday`, or a date (its latest night).
  // Throws std::invalid_argument that names what there is.
  const NightEntry& find(const std::string& which) const;
  // `FROM:TO` of dates, `now-30d` or `now`; both ends count. Throws std::invalid_argument on anything else.
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
