// What Kineto recorded of GPUs and of the calls that drive them, out of a profiler's result.
#pragma once
#include <torch/csrc/autograd/profiler_kineto.h>

#include "bench/train/gpu/gpu_trace.h"

namespace bench {

// Times are nanoseconds since 1970. Calls are those of the training thread (as gettid() names it) and of all
// that compute gradients or what gradients are taken of: loader threads wait for a GPU that decodes, and no
// step waits for that.
GpuTrace gpu_trace(const torch::autograd::profiler::ProfilerResult& recorded, int64_t training_thread);

}  // namespace bench
