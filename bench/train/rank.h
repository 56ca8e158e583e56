// One rank of one row, from its job to its part of the result.
#pragma once
#include "bench/train/backend/group.h"
#include "harness/contract/job.h"

namespace bench {

// Prepares everything, meets the other ranks, checks the strategy, trains the slice; rank 0 writes the row's
// slice.json into the job's directory. Throws when the row can't have a result. After a throw the other ranks
// may wait forever: end the process without running destructors.
void train_rank(const harness::Job& job, const RankInfo& rank);

// Throws std::runtime_error naming the file.
void write_json(const std::filesystem::path& file, const nlohmann::json& object);

}  // namespace bench
