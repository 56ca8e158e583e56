// Initial synchronisation for strategies with several processes: all ranks start from rank 0's weights and
// buffers.
#pragma once
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/train/model/resnet.h"

namespace bench {

constexpr size_t kBroadcastBufferBytes = 250 << 20;  // the value of PyTorch's DistributedDataParallel

// Collective; changes the model's parameters and buffers in place.
void broadcast_initial_state(const c10::intrusive_ptr<c10d::ProcessGroup>& group, const ResNet& model);

}  // namespace bench
