// The report that each rank sends to rank 0.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/train/checks.h"
#include "bench/train/slice.h"
#include "harness/contract/rank_report.h"

namespace bench {

// This rank's place, samples of every phase and span, loss, counts, cache state and checks.
harness::RankReport rank_report(const SliceParts& parts, const RankInfo& rank, const SliceResult& result,
                                const harness::RecordCache& cache, const std::vector<Check>& checks);

// Library versions for the record.
std::map<std::string, std::string> library_versions();

}  // namespace bench
