// The exchange between replicas on different GPUs as in torch.nn.DataParallel: NCCL broadcast and reduce of
// flattened tensors.
#pragma once
#include "bench/train/device/replica_exchange.h"

namespace bench {

// Single-process, with LibTorch's NCCL communicators (torch::cuda::nccl). Uses the current stream of each
// GPU.
std::unique_ptr<ReplicaExchange> make_nccl_exchange(const std::vector<Model*>& models);

}  // namespace bench
