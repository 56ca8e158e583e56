// Base class of the strategies with one process per device: this rank's model and the group of all ranks.
#pragma once
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "bench/train/strategy/strategy.h"

namespace bench {

using GroupPointer = c10::intrusive_ptr<c10d::ProcessGroup>;

// Adds a reference to the group.
inline GroupPointer shared_group(c10d::ProcessGroup* group) {
  return GroupPointer::unsafe_reclaim_from_nonowning(group);
}

constexpr size_t kBroadcastBufferBytes = 250 << 20;  // the value of PyTorch's DistributedDataParallel

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
  ResNet& model_;
  Precision& precision_;
  GroupPointer group_;
  std::vector<at::Tensor> parameters_;
  PhaseClock* clock_ = nullptr;  // of the current backward pass
};

}  // namespace bench
