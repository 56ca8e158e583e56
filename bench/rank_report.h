// What each rank hands to rank 0, and how rank 0 puts it together for the record.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/checks.h"
#include "bench/slice.h"

namespace bench {

// One rank's part: place, samples of every phase and span, loss, counts, cache proof, checks.
nlohmann::json rank_report(const SliceParts& parts, const RankInfo& rank, const SliceResult& result,
                           const nlohmann::json& cache, const std::vector<Check>& checks);

// The keys of results/README.md that a row's ranks know: samples by rank, slowest total, sums, checks of all
// ranks (and that all ended with the same weights).
nlohmann::json merge_reports(const harness::Row& row, const std::vector<std::string>& reports);

}  // namespace bench
