// A trace of some batches of one rank: LibTorch's operators and what GPUs did, as Kineto records them, and
// the same batches' timelines. The harness makes one file of all ranks' (harness/run/trace_merge.h).
#pragma once
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/train/backend/group.h"
#include "bench/train/slice.h"

namespace torch::autograd::profiler {
struct ProfilerResult;
}

namespace bench {

class Trace {
 public:
  // Batches are counted from the first warm-up one.
  Trace(const RankInfo& rank, const Device& device, int64_t first, int64_t last);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Before the slice, outside its window: the profiler's slow first start.
  void prepare();
  // Training thread, after each batch: starts before the first traced one and stops after the last. What that
  // takes is put down as `other` of the batch that comes next.
  void batch_ended(int64_t batch, const SliceParts& parts, SliceResult& result);
  // After the slice: rank-N.kineto.json and rank-N.timeline.json in that folder. What can't be written is
  // missing from the trace and no more. Returns what summary() of bench/train/gpu/gpu_trace.h says of a GPU,
  // else nothing.
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
  nlohmann::json batches_ = nlohmann::json::array();
};

}  // namespace bench
