// A recording as one CUDA graph. All graphs of a device share one memory pool, so they must be replayed in
// recording order.
#pragma once
#include <ATen/cuda/CUDAGraph.h>

#include "bench/train/device/device.h"

namespace bench {

class CudaRecording : public Recording {
 public:
  using Pool = decltype(at::cuda::graph_pool_handle());
  explicit CudaRecording(Pool pool) : pool_(pool) {}
  // Captures the current stream, which must not be the default stream (cudaStreamCaptureModeThreadLocal).
  // Includes work that other threads enqueue for it, e.g. autograd's, but not unrelated work such as a
  // loader's decoding.
  void record(const std::function<void()>& work) override;
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
  Pool pool_;
};

}  // namespace bench
