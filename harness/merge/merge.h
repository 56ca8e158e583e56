// Merges the reports of a row's ranks into the part of its record that the ranks measured.
#pragma once
#include <istream>

#include "harness/contract/record.h"

namespace harness {

// `slice`: the content of slice.jsonl (harness/contract/slice_file.h). Builds samples by rank, the slowest
// total, sums, and checks of all ranks including equal weights. Parses and frees one report after the other.
// Throws std::runtime_error with the line for a report that is damaged, incomplete or missing.
Record merge_reports(const Row& row, int64_t world_size, std::istream& slice);

}  // namespace harness
