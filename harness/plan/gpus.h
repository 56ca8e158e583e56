// How many GPUs a row needs and a machine has, and what it means when ranks share one.
#pragma once
#include "harness/config/request.h"
#include "harness/config/settings.h"

namespace harness {

// What the row asks for that only a GPU can do, where it runs on another device, or what only a library can
// that this build lacks; empty when nothing.
std::string why_not_without_gpu(const Row& row, const AxisValues& values);

// Why the row can't run for want of GPUs; empty when it can, or with --oversubscribe.
std::string why_too_few_gpus(const Row& row, const AxisValues& values, const Request& request);

// For a record's `emulated`; empty where every rank has a GPU of its own, or none needs one.
std::string describe_shared_gpus(const Row& row, const AxisValues& values, const Request& request);

}  // namespace harness
