// Shows batches and phases as profiler ranges (e.g. NVTX). No CUDA here.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "bench/train/clock/phase_clock.h"

namespace bench {

// At most two ranges are open at a time: "batch N", counted from the first warm-up batch, and a phase in it.
// Same calls as DeviceClock.
class PhaseRanges {
 public:
  using Begin = std::function<uint64_t(const char* name)>;
  using End = std::function<void(uint64_t range)>;  // may be called from any thread
  PhaseRanges(Begin begin, End end) : begin_(std::move(begin)), end_(std::move(end)) {}
  ~PhaseRanges() { end_both(); }
  PhaseRanges(const PhaseRanges&) = delete;
  PhaseRanges& operator=(const PhaseRanges&) = delete;

  void start() { end_both(); }
  void enter(Phase phase);  // a batch's range begins with its first phase
  void next_batch();

 private:
  void end_both();

  const Begin begin_;
  const End end_;
  std::optional<uint64_t> batch_range_, phase_range_;
  int64_t batch_ = 0;
};

}  // namespace bench
