// How rank 0 puts together what the ranks hand to it. No Torch here.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace bench {

// The part of a record that a row's ranks know, out of each rank's RankReport as JSON, in rank order: samples
// by rank, slowest total, sums, checks of all ranks (and that all ended with the same weights). Move the
// texts in: each is freed once it is read. Throws Violation for a report without what it must have.
harness::Record merge_reports(const harness::Row& row, std::vector<std::string> reports);

}  // namespace bench
