// What a trace's device events say of the GPUs of one rank: how much of the traced time they worked, and how
// often the host waited for them. No Torch here.
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
    bool copy;  // or memset; else a kernel
    int64_t begin_ns, end_ns;
  };
  struct Call {  // of CUDA's runtime, by any thread that computes
    std::string name;
    int64_t begin_ns;
  };
  std::vector<Work> work;
  std::vector<Call> calls;
};

// On the clock of the trace. The GPUs had nothing to do at the beginning.
struct TracedTime {
  int64_t begin_ns, end_of_batches_ns;  // of the host
  int64_t end_ns;                       // and of the GPUs, when the last batch was done
  int64_t batches;
};

// Shares of the time from begin to end, means over the GPUs that did something; without the rank's number.
// Nothing where no GPU worked: none was recorded.
std::optional<harness::RankTrace> summary(const GpuTrace& trace, const TracedTime& time);

// How much of the time from `begin` to `end` at least one of the intervals covers. They may overlap.
using Interval = std::pair<int64_t, int64_t>;
int64_t covered(std::vector<Interval> intervals, int64_t begin, int64_t end);

// Whether the host comes back from this function of CUDA's runtime only when the device has done something.
bool waits(std::string_view function);

}  // namespace bench
