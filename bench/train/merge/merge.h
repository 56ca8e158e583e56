// Merges the ranks' reports on rank 0. No Torch here.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace bench {

// Builds the ranks' part of a record from their RankReports (JSON, in rank order): samples by rank, the
// slowest total, sums, and checks of all ranks including equal weights. Move `reports` in: each text is freed
// after parsing. Throws Violation for a report with missing keys.
harness::Record merge_reports(const harness::Row& row, std::vector<std::string> reports);

}  // namespace bench
