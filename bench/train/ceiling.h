// Ceilings: what a row could do if only one part of it bound it. Measured after the slice, by all ranks at
// the same time.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/train/slice.h"

namespace bench {

// Posts these all-reduces at once, waits for all of them, and returns the median milliseconds of such rounds
// on this rank, each begun after a barrier. Every rank calls it with the same messages. 0 without messages.
double all_reduce_ceiling_ms(Group& group, Device& device, const std::vector<Traffic::Message>& messages);

struct ComputeCeiling {
  double ms = 0;                            // per batch, this rank's whole step
  std::map<std::string, double> phases_ms;  // per batch; without `load`, and those that never were
};

// The slice's own training step on batches that were made up beforehand, after two untimed ones. No loader
// thread may run. It goes on training: what is wanted of the slice's weights must have been taken before.
ComputeCeiling compute_ceiling(const SliceParts& parts, const LoaderOptions& options, int64_t batches);

struct LoaderCeiling {
  double ms = 0;                      // per batch
  double read_ms = 0, decode_ms = 0;  // loader thread time spent on all of these batches
};

// Takes and releases batches of a loader that was not yet started, and does nothing else. Its first batch is
// not timed: starting threads and opening files would weigh more on a few batches than on a slice. As nobody
// pauses between batches, no head start lies in the ring when timing begins.
LoaderCeiling loader_ceiling(Loader& loader, Group& group, harness::ProgressSlot& progress, int64_t batches);

}  // namespace bench
