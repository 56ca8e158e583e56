// `--trace` and `--wrap`: what is watched of a row while it runs, and whether the row has it.
#pragma once
#include <optional>
#include <string>

#include "harness/config/request.h"
#include "harness/config/settings.h"
#include "harness/contract/job.h"

namespace harness {

// What --trace says of this row; nothing without it. Throws PreparationError when the row has no such
// batches.
std::optional<TracedBatches> traced_batches(const Request& request, const Row& row);

// Throws PreparationError when the row has no rank that --wrap-rank names.
void check_wrap(const Request& request, const Row& row, const AxisValues& values);

// For a record's notes: the profiler's own time, and that of the program around a rank, lies in the row's.
std::string describe(const TracedBatches& batches);
std::string describe_wrap(const Request& request);

}  // namespace harness
