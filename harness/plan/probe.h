// Questions about a row that only train_slice can answer, by trying.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "harness/config/installation.h"
#include "harness/contract/row.h"

namespace harness {

// What `train_slice --probe-WHAT` prints for the row, run in a process of its own; the job lies in `folder`.
// An exit code other than 0, or an answer that is no object, gives null; `exit_code`, if asked for, says
// more.
nlohmann::json probe(const Installation& installation, const Row& row, const std::string& what,
                     const fs::path& folder, int* exit_code = nullptr);

}  // namespace harness
