// Extracts GPU work and CUDA runtime calls from a Kineto profiler result.
#pragma once
#include <torch/csrc/autograd/profiler_kineto.h>

#include "bench/train/gpu/gpu_trace.h"

namespace bench {

// Times are ns since 1970. Includes calls of the training thread (its gettid()) and of threads that run
// operators with autograd, but not of loader threads, whose waits for a decoding GPU don't delay a step.
GpuTrace gpu_trace(const torch::autograd::profiler::ProfilerResult& recorded, int64_t training_thread);

}  // namespace bench
