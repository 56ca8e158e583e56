// SyncBN with LibTorch's own GPU kernels: those that torch.nn.SyncBatchNorm calls, in its order.
#pragma once
#include "bench/train/strategy/sync_batch_norm.h"

namespace bench {

// As SyncBatchNorm::forward(). Each rank gathers mean, inverse deviation and count of all; the kernels exist
// for CUDA only.
at::Tensor sync_batch_norm_on_gpu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                                  at::Tensor& running_mean, at::Tensor& running_variance, SyncBatchNorm& all,
                                  size_t layer);

}  // namespace bench
