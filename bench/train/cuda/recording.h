// A recording of CUDA's: one graph. All graphs of a device share one pool of memory, which is why they must
// be replayed in the order in which they were recorded.
#pragma once
#include <ATen/cuda/CUDAGraph.h>

#include "bench/train/device/device.h"

namespace bench {

class CudaRecording : public Recording {
 public:
  using Pool = decltype(at::cuda::graph_pool_handle());
  explicit CudaRecording(Pool pool) : pool_(pool) {}
  // In the current stream, which must not be the default one. Work may come from other threads, as that of a
  // backward pass does; calls of other threads that have nothing to do with it, e.g. of a loader that decodes
  // on the GPU, are no part of it.
  void record(const std::function<void()>& work) override;
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
  Pool pool_;
};

}  // namespace bench
