// Reports of ranks that never ran: every key that rank_report writes, and times with as many digits as real
// ones. For tests and for the benchmark of their merge.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "harness/contract/row.h"

namespace bench {

nlohmann::json fake_report(const harness::Row& row, int rank);

}  // namespace bench
