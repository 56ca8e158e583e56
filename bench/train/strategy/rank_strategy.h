// What the strategies with one process per device share: their base class, with this rank's model and the
// group of all ranks, and hooks on gradients.
#pragma once
#include <functional>
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "bench/train/strategy/strategy.h"

namespace torch::autograd {
struct Node;
}

namespace bench {

using GroupPointer = c10::intrusive_ptr<c10d::ProcessGroup>;

// Adds a reference to the group.
inline GroupPointer shared_group(c10d::ProcessGroup* group) {
  return GroupPointer::unsafe_reclaim_from_nonowning(group);
}

constexpr size_t kBroadcastBufferBytes = 250 << 20;  // the value of PyTorch's DistributedDataParallel

// Notifies a strategy when each gradient is ready, while backward is still running.
class GradientHooks {
 public:
  // Calls ready(index) when the gradient of a parameter has been accumulated, in the thread that runs
  // backward, after hooks that were installed earlier. Active for the lifetime of this object.
  GradientHooks(const std::vector<at::Tensor>& parameters, std::function<void(size_t)> ready);

 private:
  std::shared_ptr<std::function<void(size_t)>> ready_;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;  // own the hooks
};

class RankStrategy : public Strategy {
 public:
  at::Tensor forward(const at::Tensor& images, PhaseClock& clock) override {
    clock.enter(Phase::forward);
    return precision_.forward(model_, images);
  }
  void use_batch_statistics(bool on) override { model_.use_batch_statistics(on); }

 protected:
  explicit RankStrategy(const StrategyContext& context);
  // Collective: copies rank 0's parameters and buffers into the model of every rank.
  void broadcast_initial_state();

  const harness::Row& row_;
  Model& model_;
  Precision& precision_;
  GroupPointer group_;
  std::vector<at::Tensor> parameters_;
  PhaseClock* clock_ = nullptr;  // of the current backward pass
};

}  // namespace bench
