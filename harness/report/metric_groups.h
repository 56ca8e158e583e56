// The parts of metrics(), each from one file.
#pragma once
#include <vector>

#include "harness/report/metrics.h"

namespace harness {

// metrics_of_batches.cpp
std::vector<Metric> step_metrics();
std::vector<Metric> communication_metrics();
std::vector<Metric> phase_metrics();
std::vector<Metric> gpu_metrics();  // metrics_of_gpus.cpp

}  // namespace harness
