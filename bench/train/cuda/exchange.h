// The exchange between replicas on GPUs of their own, as torch.nn.DataParallel has it: NCCL's broadcast and
// reduce, of tensors that were laid end to end.
#pragma once
#include "bench/train/device/replica_exchange.h"

namespace bench {

// One process, so NCCL's communicators are LibTorch's own (torch::cuda::nccl). Works in the current stream of
// each GPU.
std::unique_ptr<ReplicaExchange> make_nccl_exchange(const std::vector<ResNet*>& models);

}  // namespace bench
