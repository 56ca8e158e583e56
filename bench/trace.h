// A trace of some batches of one rank: LibTorch's operators as Kineto records them, and the same batches'
// timelines. The harness makes one file of all ranks' (harness/trace.h).
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/backend/group.h"
#include "bench/slice.h"

namespace bench {

class Trace {
 public:
  // Batches are counted from the first warm-up one.
  Trace(const RankInfo& rank, int64_t first, int64_t last) : rank_(rank), first_(first), last_(last) {}
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Before the slice, outside its window: the profiler's slow first start.
  void prepare();
  // Training thread, after each batch: starts before the first traced one and stops after the last. What that
  // takes is put down as `other` of the batch that comes next.
  void batch_ended(int64_t batch, const SliceParts& parts, SliceResult& result);
  // After the slice: rank-N.kineto.json and rank-N.timeline.json in that folder. What can't be written is
  // missing from the trace and no more.
  void write(const std::filesystem::path& folder);

 private:
  enum class State { idle, recording, recorded };
  void start();
  void stop();
  void keep(int64_t batch, const SliceParts& parts, const SliceResult& result);
  const RankInfo rank_;
  const int64_t first_, last_;
  State state_ = State::idle;
  nlohmann::json batches_ = nlohmann::json::array();
};

}  // namespace bench
