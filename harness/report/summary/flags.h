// Flags: remarks on a row that a reader of its figures must know.
#pragma once
#include <string>
#include <vector>

#include "harness/stats/statistics.h"

namespace harness {

// `code` where there is room for one letter, `text` where there is more.
struct Flag {
  char code;
  std::string text;
};

using Names = std::vector<std::string>;

// Fields inferred in every row stand in the header, or the mark would tell no row from another.
Names inferred_everywhere(const RecordList& records);

// `run` is null for a row without figures.
std::vector<Flag> flags_of(const Record& record, const Names& inferred_in_all, const RunStatistics* run);

// What a code means, one line.
std::string flag_meaning(char code);

}  // namespace harness
