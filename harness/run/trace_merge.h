// `--trace`: one file made of what the ranks of a row recorded.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/contract/record_extras.h"

namespace harness {

// What the record's key `trace` tells of the ranks' GPUs, in one line; empty when nothing.
std::string describe_gpus(const RecordTrace& trace);

// Puts rank-N.kineto.json and rank-N.timeline.json of a row's folder together as trace.json for
// ui.perfetto.dev and chrome://tracing: a process per rank on one time base. Removes what it has taken over.
struct MergedTrace {
  std::filesystem::path file;         // empty: nothing could be used
  std::vector<std::string> warnings;  // of ranks whose files are missing or damaged
};
MergedTrace merge_traces(const std::filesystem::path& directory, int64_t ranks);

}  // namespace harness
