#include "bench/train/strategy/initial_state.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

namespace bench {

void broadcast_initial_state(const c10::intrusive_ptr<c10d::ProcessGroup>& group, const ResNet& model) {
  std::vector<at::Tensor> state;
  for (const auto& tensor : model.parameter_tensors()) state.push_back(tensor.detach());
  for (const auto& tensor : model.buffer_tensors()) state.push_back(tensor);
  c10d::broadcast_coalesced(group, state, kBroadcastBufferBytes, 0);
}

}  // namespace bench
