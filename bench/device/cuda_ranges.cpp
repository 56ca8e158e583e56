#include "bench/device/cuda_ranges.h"

#include <nvtx3/nvToolsExt.h>

namespace bench {

uint64_t CudaRanges::begin(const char* name) { return nvtxRangeStartA(name); }

void CudaRanges::end(uint64_t range) { nvtxRangeEnd(range); }

}  // namespace bench
