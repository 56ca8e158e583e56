// Merges overlapping kernels and copies into intervals, and counts calls that block the host.
#include "bench/train/gpu/gpu_trace.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace bench {

int64_t covered(std::vector<Interval> intervals, int64_t begin, int64_t end) {
  std::sort(intervals.begin(), intervals.end());
  int64_t sum = 0, reached = begin;
  for (const auto& [from, to] : intervals) {
    const int64_t first = std::max(from, reached), last = std::min(to, end);
    if (last <= first) continue;
    sum += last - first;
    reached = last;
  }
  return sum;
}

// The profiler's names may have a suffix, e.g. cudaMemcpy_ptds for per-thread default streams.
bool waits(std::string_view function) {
  const std::string_view name = function.substr(0, function.find('_'));
  if (name.starts_with("cudaMemcpy")) return name.find("Async") == std::string_view::npos;
  return name == "cudaStreamSynchronize" || name == "cudaDeviceSynchronize" ||
         name == "cudaEventSynchronize" || name == "cudaFree";  // freeing waits for the whole device
}

// Mean over GPUs of the share of time in which work of that kind ran.
template <class Counts>
static double share(const std::map<int, std::vector<GpuTrace::Work>>& gpus, const TracedTime& time,
                    Counts counts) {
  const int64_t length = std::max<int64_t>(1, time.end_ns - time.begin_ns);
  double sum = 0;
  for (const auto& [gpu, works] : gpus) {
    std::vector<Interval> intervals;
    for (const GpuTrace::Work& work : works)
      if (counts(work)) intervals.emplace_back(work.begin_ns, work.end_ns);
    sum += double(covered(std::move(intervals), time.begin_ns, time.end_ns)) / double(length);
  }
  return std::round(sum / double(gpus.size()) * 1e4) / 1e4;
}

std::optional<harness::RankTrace> summary(const GpuTrace& trace, const TracedTime& time) {
  std::map<int, std::vector<GpuTrace::Work>> gpus;
  for (const GpuTrace::Work& work : trace.work) gpus[work.gpu].push_back(work);
  if (gpus.empty()) return std::nullopt;
  const auto host_waits = std::count_if(trace.calls.begin(), trace.calls.end(), [&](const auto& call) {
    return call.begin_ns >= time.begin_ns && call.begin_ns < time.end_of_batches_ns && waits(call.name);
  });
  harness::RankTrace summary;
  summary.gpu_busy_share = share(gpus, time, [](const auto&) { return true; });
  summary.gpu_kernel_share = share(gpus, time, [](const auto& work) { return !work.copy; });
  summary.gpu_copy_share = share(gpus, time, [](const auto& work) { return work.copy; });
  summary.host_waits_per_batch = double(host_waits) / double(std::max<int64_t>(1, time.batches));
  return summary;
}

}  // namespace bench
