// Generates a rank's report with every key of bench/train/rank_report.h and random times with realistic
// precision. For tests and for the micro-benchmark of merging reports.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "harness/contract/row.h"

namespace bench {

nlohmann::json fake_report(const harness::Row& row, int rank);

}  // namespace bench
