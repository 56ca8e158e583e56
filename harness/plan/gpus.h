// Compares the GPUs that a row needs with those of the machine.
#pragma once
#include "harness/config/request.h"
#include "harness/config/settings.h"

namespace harness {

// Why the row can't run on its device: it sets fields that need a GPU, or a library that this build lacks.
// Empty when it can.
std::string why_not_without_gpu(const Row& row, const AxisValues& values);

// Why the machine has too few GPUs for the row; empty when it has enough, or with --oversubscribe.
std::string why_too_few_gpus(const Row& row, const AxisValues& values, const Request& request);

// Text for a record's `emulated` when ranks share GPUs; otherwise empty.
std::string describe_shared_gpus(const Row& row, const AxisValues& values, const Request& request);

}  // namespace harness
