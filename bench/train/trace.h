// Traces some batches of one rank: LibTorch operators and GPU work recorded by Kineto, and the batches'
// timelines. The harness merges the files of all ranks (harness/run/trace_merge.h).
#pragma once
#include <filesystem>
#include <memory>

#include "bench/train/backend/group.h"
#include "bench/train/slice.h"
#include "harness/contract/rank_timelines.h"

namespace torch::autograd::profiler {
struct ProfilerResult;
}

namespace bench {

class Trace {
 public:
  // first, last: batch numbers, counted from the first warm-up batch.
  Trace(const RankInfo& rank, const Device& device, int64_t first, int64_t last);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Initialises the profiler, which is slow. Call before the slice.
  void prepare();
  // Call after each batch in the training thread: starts before the first traced batch and stops after the
  // last. Its time counts as `other` of the next batch.
  void batch_ended(int64_t batch, const SliceParts& parts, SliceResult& result);
  // Writes rank-N.kineto.json and rank-N.timeline.json to `folder` after the slice; a write error is only
  // reported on stderr. Returns summary() of bench/train/gpu/gpu_trace.h for a GPU, otherwise empty.
  std::optional<harness::RankTrace> write(const std::filesystem::path& folder);

 private:
  enum class State { idle, recording, recorded };
  using Time = std::chrono::steady_clock::time_point;
  void start();
  void stop();
  std::optional<harness::RankTrace> gpus() const;
  void keep(int64_t batch, const SliceParts& parts, const SliceResult& result);
  const RankInfo rank_;
  const bool on_gpu_;
  const int64_t first_, last_;
  State state_ = State::idle;
  Time begin_, end_of_batches_, end_;  // as in TracedTime
  std::unique_ptr<torch::autograd::profiler::ProfilerResult> recorded_;
  std::vector<harness::TracedBatch> batches_;
};

}  // namespace bench
