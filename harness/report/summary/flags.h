// Flags: remarks that qualify the figures of a row.
#pragma once
#include <string>
#include <vector>

#include "harness/stats/statistics.h"

namespace harness {

// Tables show `code` where there is room for one letter only, otherwise `text`.
struct Flag {
  char code;
  std::string text;
};

using Names = std::vector<std::string>;

// Fields that are inferred in every row. The table's header names them, so that flags show only differences.
Names inferred_everywhere(const RecordList& records);

// `run`: null for a row without figures.
std::vector<Flag> flags_of(const Record& record, const Names& inferred_in_all, const RunStatistics* run);

// The meaning of a code in one line; empty for an unknown code.
std::string flag_meaning(char code);

}  // namespace harness
