// `--trace`: which batches of a row are traced, and one file made of what its ranks recorded.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/config/workshop.h"
#include "harness/contract/job.h"
#include "harness/contract/record_extras.h"

namespace harness {

// What --trace says of this row; nothing without it. Throws PreparationError when the row has no such
// batches.
std::optional<TracedBatches> traced_batches(const Request& request, const Row& row);

// For a record's notes: the profiler's own time lies in the row's.
std::string describe(const TracedBatches& batches);

// What the record's key `trace` tells of the ranks' GPUs, in one line; empty when nothing.
std::string describe_gpus(const RecordTrace& trace);

// Puts rank-N.kineto.json and rank-N.timeline.json of a row's folder together as trace.json for
// ui.perfetto.dev and chrome://tracing: a process per rank on one time base. Removes what it has taken over.
struct MergedTrace {
  std::filesystem::path file;         // empty: nothing could be used
  std::vector<std::string> warnings;  // of ranks whose files are missing or damaged
};
MergedTrace merge_traces(const fs::path& directory, int64_t ranks);

}  // namespace harness
