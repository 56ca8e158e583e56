// A recording as one CUDA graph. All graphs of a device share one memory pool, so they must be replayed in
// recording order.
#pragma once
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "bench/train/device/device.h"

namespace bench {

class CudaRecording : public Recording {
 public:
  using Pool = decltype(at::cuda::graph_pool_handle());
  explicit CudaRecording(Pool pool) : pool_(pool) {}
  // Captures the current stream, which must not be the default stream (cudaStreamCaptureModeThreadLocal).
  // Includes work that other threads enqueue for it, e.g. autograd's, but not unrelated work such as a
  // loader's decoding.
  void record(const std::function<void()>& work) override {
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
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
  Pool pool_;
};

}  // namespace bench
