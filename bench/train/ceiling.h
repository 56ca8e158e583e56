// Ceilings: the time per batch if only one part limited the row. Measured after the slice by all ranks at the
// same time; all functions are collective.
#pragma once
#include <vector>

#include "bench/train/slice.h"

namespace bench {

// Each round starts after a barrier, posts all these all-reduces and waits for them. Returns the median time
// of a round on this rank in ms; 0 without messages. Messages must be the same on all ranks.
double all_reduce_ceiling_ms(Group& group, Device& device, harness::ProgressSlot& progress,
                             const std::vector<Traffic::Message>& messages);

// Times the slice's training step on pre-generated batches, after two untimed ones, and returns what concerns
// computing: phases without `load` and those of 0 ms, each batch's time on the host, of which the first
// includes the wait at the end. No loader thread may run. Changes the weights, so evaluate the slice's
// weights before.
harness::RankCeilings compute_ceiling(const SliceParts& parts, const LoaderOptions& options, int64_t batches);

// Starts the loader, only takes and releases ceilings.batches batches, and adds what concerns the loader: a
// batch's time is from the one before to its own arrival. The first batch is not timed, because starting
// threads and opening files would weigh more than in a slice. There is no pause between batches, so the ring
// is not filled in advance.
void loader_ceiling(Loader& loader, Group& group, harness::ProgressSlot& progress,
                    harness::RankCeilings& ceilings);

}  // namespace bench
