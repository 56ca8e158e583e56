// `--scale auto` on GPUs whose memory is too small for the article's batches.
#pragma once
#include <functional>

#include "harness/config/installation.h"
#include "harness/config/scales.h"

namespace harness {

// Divides the scale's batches by the smallest power of two for which a training step of the most demanding
// row fits into a GPU's memory; found by running such steps. Adds the divisor to the scale's name and
// summary. `rows_at` resolves the rows at a scale. Throws PreparationError when even the smallest batches
// don't fit.
void fit_to_memory(const Installation& installation, Scale& scale,
                   const std::function<std::vector<Row>(const Scale&)>& rows_at);

}  // namespace harness
