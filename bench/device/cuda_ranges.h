// NVTX ranges, which Nsight Systems and others draw beside what CUDA did: --wrap "nsys profile ...".
#pragma once
#include "bench/phase_ranges.h"

namespace bench {

// Started and ended, not pushed and popped: backward ends in a thread of autograd's. Without a tool that
// listens each call costs some nanoseconds.
class CudaRanges : public Ranges {
 public:
  uint64_t begin(const char* name) override;
  void end(uint64_t range) override;
};

}  // namespace bench
