// train: fused batch norm + ReLU and max-pool with small indices against LibTorch's separate operations.
#include "tests/support/fused_layers_cases.h"

namespace bench::fused_layers_test {

using namespace fused_layers_cases;

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
