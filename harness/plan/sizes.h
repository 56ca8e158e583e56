// Chooses the number of timed batches by the speed of the machine, so that slow machines finish in time.
#pragma once
#include <optional>
#include <vector>

#include "harness/config/scales.h"
#include "harness/plan/plan.h"

namespace harness {

inline constexpr double kMatrixTime_s = 600;  // all rows of a matrix should have ended by then

// `times`: of a step of `step_images` images. The scale's usual number of batches if all rows are expected to
// end within kMatrixTime_s, else scale.fewest_batches: only two sizes, because runs with different sizes
// can't be compared, and measured rates vary. Nullopt when nothing was measured or the scale doesn't allow
// it.
std::optional<RecordSizes> choose_sizes(const std::vector<PlannedRow>& plan, const PrecisionTimes& times,
                                        int64_t step_images, const Scale& scale);

// Gives a row these sizes; not accuracies, which need every batch.
void apply(const RecordSizes& sizes, Row& row);

// `sizes: a step of 16 images takes 12.3 ms here, ...`; one line.
std::string describe(const RecordSizes& sizes);

}  // namespace harness
