// What each rank hands to rank 0; merge.h puts it together.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/train/checks.h"
#include "bench/train/merge/merge.h"
#include "bench/train/slice.h"

namespace bench {

// One rank's part: place, samples of every phase and span, loss, counts, cache proof, checks.
nlohmann::json rank_report(const SliceParts& parts, const RankInfo& rank, const SliceResult& result,
                           const nlohmann::json& cache, const std::vector<Check>& checks);

// Versions of the libraries as loaded at run time, for the record.
nlohmann::json library_versions();

}  // namespace bench
