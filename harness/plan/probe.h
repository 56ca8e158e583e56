// Asks train_slice to try something out for a row.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/config/installation.h"
#include "harness/config/scales.h"
#include "harness/contract/row.h"

namespace harness {

// Runs `train_slice --probe-WHAT` for the row in a new process, with probe.json in `folder` as its job.
// Returns the JSON object that it prints; an empty one when it prints something else or fails. `exit_code`:
// output, may be null.
nlohmann::json probe(const Installation& installation, const Row& row, const std::string& what,
                     const fs::path& folder, int* exit_code = nullptr);

// For `--scale auto` on GPUs whose memory may be too small for the article's batches: divides the scale's
// batches by the smallest power of two for which a training step of the most demanding row fits; found by
// running such steps. Adds the divisor to the scale's name and summary. `rows_at` resolves the rows at a
// scale. Throws PreparationError when even the smallest batches don't fit.
void fit_to_memory(const Installation& installation, Scale& scale,
                   const std::function<std::vector<Row>(const Scale&)>& rows_at);

}  // namespace harness
