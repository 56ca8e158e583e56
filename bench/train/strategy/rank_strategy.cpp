#include "bench/train/strategy/rank_strategy.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

namespace bench {

RankStrategy::RankStrategy(const StrategyContext& context)
    : row_(context.row),
      model_(context.model),
      precision_(context.precision),
      group_(shared_group(context.group.process_group())),
      parameters_(model_.parameter_tensors()) {}

void RankStrategy::broadcast_initial_state() {
  std::vector<at::Tensor> state;
  for (const auto& tensor : parameters_) state.push_back(tensor.detach());
  for (const auto& tensor : model_.buffer_tensors()) state.push_back(tensor);
  c10d::broadcast_coalesced(group_, state, kBroadcastBufferBytes, 0);
}

}  // namespace bench
