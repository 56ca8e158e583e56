// How rank 0 puts together what the ranks hand to it. No Torch here.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/contract/row.h"

namespace bench {

// The keys of results/README.md that a row's ranks know, out of each rank's rank_report as text, in rank
// order: samples by rank, slowest total, sums, checks of all ranks (and that all ended with the same
// weights). Move the texts in: each is freed once it is read.
nlohmann::json merge_reports(const harness::Row& row, std::vector<std::string> reports);

}  // namespace bench
