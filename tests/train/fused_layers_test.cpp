// train: the gradients of fused layers, and networks with them, against LibTorch's separate operations.
// Kernels for the CPU are made here of those operations, one after another.
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <torch/library.h>

#include "tests/support/fused_layers_cases.h"

namespace bench::fused_layers_test {

using namespace fused_layers_cases;
using Optional = std::optional<at::Tensor>;
using Tensors4 = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// `clipped` and `index` have other layouts than on GPUs; only backward reads them.
Tensors4 batch_norm_relu_on_cpu(const at::Tensor& x, const Optional& addend, const at::Tensor& scale,
                                const at::Tensor& shift, at::Tensor& running_mean,
                                at::Tensor& running_variance) {
  auto [y, mean, inverse] = at::native_batch_norm(x, scale, shift, running_mean, running_variance, true,
                                                  kBatchNormMomentum, kBatchNormEpsilon);
  if (addend) y += *addend;
  const at::Tensor clipped = y.le(0);
  y.masked_fill_(clipped, 0);
  return {y, clipped, mean, inverse};
}

Tensors4 batch_norm_relu_backward_on_cpu(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& clipped,
                                         const at::Tensor& scale, const at::Tensor& mean,
                                         const at::Tensor& inverse, bool) {
  const at::Tensor passed = dy.masked_fill(clipped, 0);
  auto [dx, dscale, dshift] = at::native_batch_norm_backward(passed, x, scale, {}, {}, mean, inverse, true,
                                                             kBatchNormEpsilon, {true, true, true});
  return {dx, passed, dscale, dshift};
}

std::tuple<at::Tensor, at::Tensor> max_pool_on_cpu(const at::Tensor& x) {
  auto [y, index] = at::max_pool2d_with_indices(x, {3, 3}, {2, 2}, {1, 1});
  return {y, index};
}

at::Tensor max_pool_backward_on_cpu(const at::Tensor& dy, const at::Tensor& index, int64_t height,
                                    int64_t width) {
  const at::Tensor like_x =
      at::empty({dy.size(0), dy.size(1), height, width}, dy.options(), dy.suggest_memory_format());
  return at::max_pool2d_with_indices_backward(dy, like_x, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false, index);
}

TORCH_LIBRARY_IMPL(bench, CPU, library) {
  library.impl("batch_norm_relu", batch_norm_relu_on_cpu);
  library.impl("batch_norm_relu_backward", batch_norm_relu_backward_on_cpu);
  library.impl("max_pool_3x3", max_pool_on_cpu);
  library.impl("max_pool_3x3_backward", max_pool_backward_on_cpu);
}

TEST(FusedLayers, BatchNormReluEqualsSeparateOperations) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    for (const bool add : {false, true})
      batch_norm_relu_equals_separate_operations(at::kCPU, type, {4, 16, 7, 9}, add);
}

TEST(FusedLayers, MaxPoolEqualsLibTorch) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{2, 8, 12, 12}, {1, 16, 7, 9}, {3, 8, 1, 1}})
    max_pool_equals_libtorch(at::kCPU, at::kFloat, sizes);
}

TEST(FusedLayers, NetworksEqualUnfusedOnes) {
  network_equals_unfused(at::kCPU, resnet18(), 1e-5);
  network_equals_unfused(at::kCPU, resnet50(), 1e-5);
}

}  // namespace bench::fused_layers_test
