// Captures the work with torch's CUDAGraph after emptying the memory allocator's cache.
#include "bench/train/cuda/recording.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

namespace bench {

void CudaRecording::record(const std::function<void()>& work) {
  c10::cuda::device_synchronize();
  // A capture can't reuse memory that earlier steps left in the allocator's cache.
  c10::cuda::CUDACachingAllocator::emptyCache();
  graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
  try {
    work();
  } catch (...) {
    try {
      graph_.capture_end();
    } catch (const c10::Error&) {  // `work` has invalidated the capture; its error is more specific
    }
    throw;
  }
  graph_.capture_end();
}

}  // namespace bench
