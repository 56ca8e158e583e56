// Hooks into autograd's gradient accumulators, and broadcasts the initial weights of rank 0 to all ranks.
#include "bench/train/strategy/rank_strategy.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <torch/csrc/distributed/c10d/comm.hpp>

namespace bench {

GradientHooks::GradientHooks(const std::vector<at::Tensor>& parameters, std::function<void(size_t)> ready)
    : ready_(std::make_shared<std::function<void(size_t)>>(std::move(ready))) {
  using torch::autograd::utils::LambdaPostHook;
  for (size_t i = 0; i < parameters.size(); ++i) {
    auto accumulator = torch::autograd::impl::grad_accumulator(parameters[i]);
    // weak_ptr: an autograd graph that outlives this object keeps the accumulator and the hook alive.
    accumulator->add_post_hook(
        std::make_unique<LambdaPostHook>([weak = std::weak_ptr(ready_), i](const auto& outputs, const auto&) {
          if (const auto call = weak.lock()) (*call)(i);
          return outputs;
        }));
    accumulators_.push_back(std::move(accumulator));
  }
}

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
