// Horovod's engine (Sergeev & Del Balso 2018): a background thread negotiates through rank 0 which gradients
// are ready on all ranks, packs them into one fusion buffer and all-reduces it. On a GPU it uses a separate
// stream, parallel to backward; negotiation messages are in host memory.
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
  at::Device device = at::kCPU;     // device of the tensors
};

class Fusion {
 public:
  // group: used only by the engine's thread; must support tensors of the device and of the host. tensors:
  // number of tensors to reduce, equal on all ranks. Destroying the engine on one rank ends it on all ranks.
  Fusion(c10::intrusive_ptr<c10d::ProcessGroup> group, size_t tensors, const FusionOptions& options);

  // Replaces the tensor by its mean over all ranks; don't use it until wait() returns. On a GPU it may still
  // be computed in the calling thread's current stream.
  void enqueue(size_t index, const at::Tensor& tensor);
  // Waits for all enqueued tensors; on a GPU the current stream then waits for the engine's stream. Rethrows
  // the engine's error; throws std::runtime_error if another rank ended the engine.
  void wait();
  // The all-reduces of the last round (enqueue() to wait()): bytes and number of tensors of each.
  struct Message {
    int64_t bytes = 0, tensors = 0;
  };
  const std::vector<Message>& messages() const { return messages_; }
  int64_t negotiations() const { return negotiations_; }  // since the engine started

 private:
  void run(const std::stop_token& stop);
  // One negotiation cycle; returns false if a rank has ended its engine. stop: this one's ends.
  bool negotiate(bool stop);
  void decide();
  void reduce_together(const std::vector<size_t>& indices);

  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  const FusionOptions options_;
  at::Tensor news_;                   // int64: [stop, announced tensor...] -1 for none
  std::vector<at::Tensor> all_news_;  // rank 0: news_ of each rank
  at::Tensor verdict_;                // int64: [stop, count, ready tensor...]
  std::vector<int> announced_by_;     // rank 0: number of ranks that have announced each tensor
  std::vector<int64_t> ready_;        // rank 0: announced by all ranks, not yet broadcast
  at::Tensor buffer_;                 // uint8
  SideStream stream_;

  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<at::Tensor> tensors_;  // by index; undefined: not enqueued
  std::vector<size_t> enqueued_;     // not yet announced
  size_t unfinished_ = 0;
  bool ended_ = false, new_round_ = true;
  std::exception_ptr error_;
  std::vector<Message> messages_;
  std::atomic<int64_t> negotiations_ = 0;
  std::jthread thread_;  // last member: ends first
};

}  // namespace bench
