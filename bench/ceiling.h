// The communication ceiling: what a batch's all-reduces take when nothing else runs.
#pragma once
#include <vector>

#include "bench/backend/group.h"

namespace bench {

// Posts these all-reduces at once, waits for all of them, and returns the median milliseconds of such rounds
// on this rank, each begun after a barrier. Every rank calls it with the same messages. 0 without messages.
double all_reduce_ceiling_ms(Group& group, const std::vector<Traffic::Message>& messages);

}  // namespace bench
