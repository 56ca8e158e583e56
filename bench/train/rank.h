// Runs one rank of one row.
#pragma once
#include <stdexcept>

#include "bench/train/backend/group.h"
#include "harness/contract/job.h"

namespace bench {

// The ranks have different configurations.
struct Disagreement : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Prepares the rank, joins the group, checks the gradients and trains the slice; rank 0 writes slice.jsonl to
// the job's directory. Throws if the row can't have a result (BadDataset, WrongLink and Disagreement:
// INVALID). Other ranks may then wait forever, so end the process without destructors.
void train_rank(const harness::Job& job, const RankInfo& rank);

// Throws std::runtime_error that names the file.
void write_json(const std::filesystem::path& file, const nlohmann::json& object);

}  // namespace bench
