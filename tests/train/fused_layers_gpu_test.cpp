// gpu: the kernels of the fused layers against LibTorch's separate operations on the CPU.
#include "tests/support/fused_layers_cases.h"

namespace bench::fused_layers_gpu_test {

using namespace fused_layers_cases;

TEST(FusedLayersOnGpu, BatchNormReluEqualsSeparateOperations) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16})
    for (const bool add : {false, true})
      for (const auto& sizes : std::vector<std::vector<int64_t>>{
               {4, 16, 7, 9}, {2, 64, 56, 56}, {16, 512, 7, 7}, {3, 24, 5, 5}, {2, 2048, 7, 7}})
        batch_norm_relu_equals_separate_operations(at::kCUDA, type, sizes, add);
}

TEST(FusedLayersOnGpu, MaxPoolEqualsLibTorch) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16})
    for (const auto& sizes :
         std::vector<std::vector<int64_t>>{{2, 64, 112, 112}, {1, 16, 7, 9}, {3, 8, 1, 1}})
      max_pool_equals_libtorch(at::kCUDA, type, sizes);
}

TEST(FusedLayersOnGpu, NetworksEqualUnfusedOnes) {
  at::globalContext().setAllowTF32CuDNN(false);  // would turn tiny differences into some of 2^-11
  network_equals_unfused(at::kCUDA, resnet18(), 1e-3, Gradients::together);
  network_equals_unfused(at::kCUDA, resnet50(), 1e-3, Gradients::together);
}

TEST(FusedLayersOnGpu, ResultsAreTheSameBitForBit) {
  const at::Tensor x = at::randn({4, 64, 28, 28}).cuda().contiguous(at::MemoryFormat::ChannelsLast);
  const auto gradient = [&] {
    const at::Tensor input = x.detach().clone().set_requires_grad(true);
    at::Tensor ones = at::ones({64}).cuda(), mean = at::zeros({64}).cuda(), variance = ones.clone();
    batch_norm_relu(input, {}, ones, mean.clone(), mean, variance).square().sum().backward();
    return input.grad();
  };
  EXPECT_TRUE(gradient().equal(gradient()));
}

}  // namespace bench::fused_layers_gpu_test
