// `--trace`: merges the trace files of a row's ranks.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/contract/record_extras.h"

namespace harness {

// One line about the GPUs in a record's `trace`; empty without GPUs.
std::string describe_gpus(const RecordTrace& trace);

// Merges rank-N.kineto.json and rank-N.timeline.json of a row's folder into trace.json for ui.perfetto.dev
// and chrome://tracing, with a process per rank and a common time base, and into kineto/rank-N.json, a file
// for each rank as torch.profiler writes them. Removes the merged files.
struct MergedTrace {
  std::filesystem::path file;         // empty: nothing could be used
  std::vector<std::string> warnings;  // about ranks whose files are missing or damaged
};
MergedTrace merge_traces(const std::filesystem::path& directory, int64_t ranks);

}  // namespace harness
