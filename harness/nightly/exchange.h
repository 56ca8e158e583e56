// Nights as JSON lines, out of one history and into another.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "harness/nightly/history.h"

namespace harness {

// One line a night, as nights.jsonl has them. Returns how many. Throws std::runtime_error when `output`
// fails.
size_t export_nights(const History& history, const std::vector<NightEntry>& nights, std::ostream& output);

struct Imported {
  size_t added = 0, known = 0, bad = 0;  // lines
};
// Each line that is no night is named in `warnings` as file:line and left out; nights that the history holds
// already count as known. Throws std::invalid_argument when the file can't be read, and as append() does.
Imported import_nights(History& history, const std::filesystem::path& file, std::ostream& warnings);

}  // namespace harness
