// Asks train_slice to try something out for a row.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "harness/config/installation.h"
#include "harness/contract/row.h"

namespace harness {

// Runs `train_slice --probe-WHAT` for the row in a new process, with probe.json in `folder` as its job.
// Returns the JSON object that it prints; an empty one when it prints something else or fails. `exit_code`:
// output, may be null.
nlohmann::json probe(const Installation& installation, const Row& row, const std::string& what,
                     const fs::path& folder, int* exit_code = nullptr);

}  // namespace harness
