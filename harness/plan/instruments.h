// `--trace` and `--wrap`: which batches and which rank of a row they apply to.
#pragma once
#include <optional>
#include <string>

#include "harness/config/request.h"
#include "harness/config/settings.h"
#include "harness/contract/job.h"

namespace harness {

// The batches of the row that --trace selects; std::nullopt without --trace. Throws PreparationError when the
// row doesn't have them.
std::optional<TracedBatches> traced_batches(const Request& request, const Row& row);

// Throws PreparationError when the row doesn't have the rank of --wrap-rank.
void check_wrap(const Request& request, const Row& row, const AxisValues& values);

// Texts for a record's notes: the row's times include the cost of the profiler, or of the wrapping program.
std::string describe(const TracedBatches& batches);
std::string describe_wrap(const Request& request);

}  // namespace harness
