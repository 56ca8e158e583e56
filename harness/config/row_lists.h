// Rows whose fields are lists: a matrix file's row stands for one row per combination of the lists' values.
//
//   grid:
//     batch: [64, 128]
//     precision: [o0, o2]
//     zip: {devices: [1, 2], strategy: [single, data_parallel]}
//     skip: [{batch: 128, precision: o2, reason: "..."}]
//
// stands for 2 x 2 x 2 rows, grid-64-o0-1-single and so on: lists under zip vary together, and combinations
// under skip are listed as SKIPPED with the reason.
#pragma once
#include <string>
#include <vector>

#include "harness/config/settings.h"

namespace harness {

struct Combination {
  std::string id;     // `grid-64-o2`: the values in the order of the file, without what ids can't hold
  std::string title;  // `batch 64, precision o2`; empty for a row without lists
  Settings settings;  // of the lists' fields; and `skip`
};

// The rows that a row's mapping stands for; one without settings if it has no list. Throws ConfigError: a
// field that is named twice, an empty list, a list of lists, lists under `zip` of different lengths, two
// combinations with one id, more than kMostRows.
inline constexpr size_t kMostRows = 1000;  // of a matrix
std::vector<Combination> combinations_of(const Entry& row);

// Whether the entry is a list for combinations_of(), so that read_settings() leaves it out.
bool is_row_list(const Entry& entry);

}  // namespace harness
