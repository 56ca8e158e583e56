// Layers of convolutional networks as single operations, which read and write activations fewer times than
// LibTorch's separate ones (row fields `fused_batch_norm`, `byte_pool_indices`). They are operators of
// LibTorch's dispatcher, bench::..., so that profilers name them, and have kernels on GPUs alone
// (bench/train/cuda/fused_layers_kernels.cuh).
//
// Activations: N x C x H x W in NHWC order (channels_last), C a multiple of 8, float32 or a 16-bit type; the
// results have the same type. Differentiable.
#pragma once
#include <ATen/core/Tensor.h>

namespace bench {

// relu(batch norm of x, + addend where defined), with x's own statistics; moves the running ones (float32) as
// BatchNorm::forward() does. Backward needs x and a bit per value instead of the result. NVIDIA's and APEX's
// groupbn ("bn_add_relu") fuse the same operations.
at::Tensor batch_norm_relu(const at::Tensor& x, const at::Tensor& addend, const at::Tensor& scale,
                           const at::Tensor& shift, at::Tensor& running_mean, at::Tensor& running_variance);

// at::max_pool2d(x, 3, 2, 1), but backward needs a byte per value of the result (the maximum's place in its
// window) instead of x and an int64 index, and adds up gradients without atomic operations.
at::Tensor max_pool_3x3(const at::Tensor& x);

}  // namespace bench
