// Keeps kernels, copies and those runtime calls that threads of the training step made.
#include "bench/train/kineto_events.h"

#include <kineto/ActivityType.h>

#include <set>

namespace bench {

using libkineto::ActivityType;
using torch::autograd::profiler::KinetoEvent;
using torch::autograd::profiler::ProfilerResult;

// For operators and CUDA runtime calls, the resource id is the thread id. Only operators with autograd have a
// sequence number.
static std::set<int64_t> threads_with_gradients(const ProfilerResult& recorded) {
  std::set<int64_t> threads;
  for (const KinetoEvent& event : recorded.events())
    if (ActivityType(event.activityType()) == ActivityType::CPU_OP && event.sequenceNr() >= 0)
      threads.insert(event.deviceResourceId());
  return threads;
}

GpuTrace gpu_trace(const ProfilerResult& recorded, int64_t training_thread) {
  std::set<int64_t> threads = threads_with_gradients(recorded);
  threads.insert(training_thread);
  GpuTrace trace;
  for (const KinetoEvent& event : recorded.events()) {
    const auto begin = int64_t(event.startNs()), end = int64_t(event.endNs());
    switch (ActivityType(event.activityType())) {
      case ActivityType::CONCURRENT_KERNEL:
        trace.work.push_back({event.deviceIndex(), /*copy=*/false, begin, end});
        break;
      case ActivityType::GPU_MEMCPY:
      case ActivityType::GPU_MEMSET:
        trace.work.push_back({event.deviceIndex(), /*copy=*/true, begin, end});
        break;
      case ActivityType::CUDA_RUNTIME:
        if (threads.contains(event.deviceResourceId())) trace.calls.push_back({event.name(), begin});
        break;
      default:  // e.g. annotation ranges, which are not work
        break;
    }
  }
  return trace;
}

}  // namespace bench
