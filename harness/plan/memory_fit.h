// `--scale auto` on GPUs whose memory doesn't hold the article's batches.
#pragma once
#include <functional>

#include "harness/config/installation.h"
#include "harness/config/scales.h"

namespace harness {

// Divides the scale's batches by the smallest power of two with which a training step of the row that needs
// most fits into a GPU's memory, which is tried out, and says so in the scale's name and summary. `rows_at`
// resolves the rows at a scale. Throws PreparationError when not even single images fit.
void fit_to_memory(const Installation& installation, Scale& scale,
                   const std::function<std::vector<Row>(const Scale&)>& rows_at);

}  // namespace harness
