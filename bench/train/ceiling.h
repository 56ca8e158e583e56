// Ceilings: the time per batch if only one part limited the row. Measured after the slice by all ranks at the
// same time; all functions are collective.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/train/slice.h"

namespace bench {

// Each round starts after a barrier, posts all these all-reduces and waits for them. Returns the median time
// of a round on this rank in ms; 0 without messages. Messages must be the same on all ranks.
double all_reduce_ceiling_ms(Group& group, Device& device, harness::ProgressSlot& progress,
                             const std::vector<Traffic::Message>& messages);

struct ComputeCeiling {
  double ms = 0;                            // per batch, whole training step of this rank
  std::map<std::string, double> phases_ms;  // per batch; without `load` and phases of 0 ms
  std::vector<double> batch_ms;  // of each batch on the host; the first includes the wait at the end
};

// Times the slice's training step on pre-generated batches, after two untimed ones. No loader thread may run.
// Changes the weights, so evaluate the slice's weights before.
ComputeCeiling compute_ceiling(const SliceParts& parts, const LoaderOptions& options, int64_t batches);

struct LoaderCeiling {
  double ms = 0;                      // per batch
  std::vector<double> batch_ms;       // of each batch: from the one before to its own arrival
  double read_ms = 0, decode_ms = 0;  // summed over loader threads and batches
};

// Starts the loader and only takes and releases batches. The first batch is not timed, because starting
// threads and opening files would weigh more than in a slice. There is no pause between batches, so the ring
// is not filled in advance.
LoaderCeiling loader_ceiling(Loader& loader, Group& group, harness::ProgressSlot& progress, int64_t batches);

}  // namespace bench
