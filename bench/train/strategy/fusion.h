// Horovod's engine: a thread that learns from rank 0 which gradients every rank has ready, packs them into
// one buffer and all-reduces that. On a GPU it packs in a stream of its own, beside the backward pass; what
// is negotiated stays in host memory.
#pragma once
#include <ATen/core/Tensor.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "bench/train/strategy/side_stream.h"

namespace bench {

struct FusionOptions {
  int64_t buffer_bytes = 64 << 20;  // HOROVOD_FUSION_THRESHOLD's default
  double cycle_ms = 1;              // HOROVOD_CYCLE_TIME's default
  at::Device device = at::kCPU;     // of the tensors
};

class Fusion {
 public:
  // `group` is used by the engine's thread alone; it carries tensors of the device and of the host. The
  // tensors are the ones that will be reduced, by index; all ranks have as many. Every rank must destroy its
  // engine, which ends those of all others.
  Fusion(c10::intrusive_ptr<c10d::ProcessGroup> group, size_t tensors, const FusionOptions& options);
  ~Fusion();

  // The tensor is to become the mean over all ranks; it must stay alive and untouched until wait() returns.
  // On a GPU it may still be under way in the calling thread's current stream.
  void enqueue(size_t index, const at::Tensor& tensor);
  // Returns when all that was enqueued is done; on a GPU the current stream then waits for the device's part.
  // Throws what the engine met, or that another rank ended it.
  void wait();
  // All-reduces of the most recent enqueue-wait round: bytes and tensors of each.
  struct Message {
    int64_t bytes = 0, tensors = 0;
  };
  const std::vector<Message>& messages() const { return messages_; }
  int64_t negotiations() const { return negotiations_; }  // since the engine started

 private:
  void run();
  // One cycle; false when some rank has ended its engine.
  bool negotiate();
  void tell_rank_0(bool stop);
  void decide();
  void reduce_together(const std::vector<size_t>& indices);

  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  const FusionOptions options_;
  at::Tensor news_;                   // int64: [stop, announced tensor...] -1 for none
  std::vector<at::Tensor> all_news_;  // rank 0: of each rank
  at::Tensor verdict_;                // int64: [stop, count, ready tensor...]
  std::vector<int> announced_by_;     // rank 0: ranks that have this tensor ready
  std::vector<int64_t> ready_;        // rank 0: announced by all and not yet told
  at::Tensor buffer_;                 // bytes
  SideStream stream_;

  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<at::Tensor> tensors_;  // by index; undefined: not enqueued
  std::vector<size_t> enqueued_;     // not yet announced
  size_t unfinished_ = 0;
  bool stop_ = false, ended_ = false, new_round_ = true;
  std::exception_ptr error_;
  std::vector<Message> messages_;
  std::atomic<int64_t> negotiations_ = 0;
  std::thread thread_;
};

}  // namespace bench
