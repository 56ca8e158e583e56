// Summarises a trace's device events for the GPUs of one rank: the busy share of the traced time, and how
// often the host waited. No Torch here.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/contract/record_extras.h"

namespace bench {

struct GpuTrace {
  struct Work {
    int gpu;
    bool copy;  // true: copy or memset; false: kernel
    int64_t begin_ns, end_ns;
  };
  struct Call {  // of the CUDA runtime, from a thread that computes
    std::string name;
    int64_t begin_ns;
  };
  std::vector<Work> work;
  std::vector<Call> calls;
};

// Times of the trace's clock. The GPUs are idle at begin_ns.
struct TracedTime {
  int64_t begin_ns, end_of_batches_ns;  // on the host
  int64_t end_ns;                       // when the GPUs finished the last batch
  int64_t batches;
};

// Shares of the time from begin to end, averaged over the GPUs with work; without the rank number. Empty if
// no GPU work was recorded.
std::optional<harness::RankTrace> summary(const GpuTrace& trace, const TracedTime& time);

// The time from `begin` to `end` that is covered by at least one interval. Intervals may overlap.
using Interval = std::pair<int64_t, int64_t>;
int64_t covered(std::vector<Interval> intervals, int64_t begin, int64_t end);

// Whether this CUDA runtime function blocks the host until the device has finished some work.
bool waits(std::string_view function);

}  // namespace bench
