#include "bench/train/cuda/recording.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

namespace bench {

void CudaRecording::record(const std::function<void()>& work) {
  c10::cuda::device_synchronize();
  // A recording can't use what the steps before it have left in the allocator.
  c10::cuda::CUDACachingAllocator::emptyCache();
  graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
  try {
    work();
  } catch (...) {
    try {
      graph_.capture_end();
    } catch (const c10::Error&) {  // `work` has already made it invalid; its own error says more
    }
    throw;
  }
  graph_.capture_end();
}

}  // namespace bench
