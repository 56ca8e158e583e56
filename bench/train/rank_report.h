// What each rank hands to rank 0; merge.h puts it together.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/train/checks.h"
#include "bench/train/merge/merge.h"
#include "bench/train/slice.h"
#include "harness/contract/rank_report.h"

namespace bench {

// One rank's part: place, samples of every phase and span, loss, counts, cache proof, checks.
harness::RankReport rank_report(const SliceParts& parts, const RankInfo& rank, const SliceResult& result,
                                const harness::RecordCache& cache, const std::vector<Check>& checks);

// Versions of the libraries as loaded at run time, for the record.
std::map<std::string, std::string> library_versions();

}  // namespace bench
