// SyncBN with the GPU kernels of torch.nn.SyncBatchNorm, called in the same order.
#pragma once
#include "bench/train/strategy/sync_batch_norm.h"

namespace bench {

// As SyncBatchNorm::forward(), CUDA only. All-gathers mean, inverse standard deviation and count of every
// rank.
at::Tensor sync_batch_norm_on_gpu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                                  at::Tensor& running_mean, at::Tensor& running_variance, SyncBatchNorm& all,
                                  size_t layer);

}  // namespace bench
