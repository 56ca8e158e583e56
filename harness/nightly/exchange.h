// Exports nights from a history as JSON lines and imports them into another one.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "harness/nightly/history.h"

namespace harness {

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
