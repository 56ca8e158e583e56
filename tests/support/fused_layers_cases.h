// The fused layers on one kind of device against LibTorch's separate operations on the CPU in float32; and
// networks with and without them.
#pragma once
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/train/model/fused_layers.h"
#include "bench/train/model/resnet.h"

namespace bench::fused_layers_cases {

// The largest difference as a share of the largest expected value.
inline double relative_difference(const at::Tensor& found, const at::Tensor& expected) {
  const at::Tensor a = found.detach().to(at::kCPU, at::kDouble),
                   b = expected.detach().to(at::kCPU, at::kDouble);
  return a.sub(b).abs().max().item<double>() / (b.abs().max().item<double>() + 1e-12);
}

// A few roundings to the 16-bit types, of 2^-11 and 2^-8 of the value.
inline double tolerance(at::ScalarType type) {
  return type == at::kFloat ? 1e-4 : type == at::kHalf ? 4e-3 : 3e-2;
}

inline at::Tensor leaf(const at::Tensor& value, const at::Device& device, at::ScalarType type) {
  at::Tensor made = value.to(device, type);
  if (made.dim() == 4) made = made.contiguous(at::MemoryFormat::ChannelsLast);
  return made.detach().clone().set_requires_grad(true);
}

inline void batch_norm_relu_equals_separate_operations(const at::Device& device, at::ScalarType type,
                                                       at::IntArrayRef sizes, bool add) {
  SCOPED_TRACE(testing::Message() << type << ", " << sizes << (add ? ", with an addend" : ""));
  const int64_t channels = sizes[1];
  at::manual_seed(11);
  // Values as the fused layer gets them, rounded to the type.
  const at::Tensor x = at::randn(sizes).mul_(2).add_(1).to(type).to(at::kFloat),
                   addend = at::randn(sizes).to(type).to(at::kFloat),
                   dy = at::randn(sizes).to(type).to(at::kFloat), scale = at::randn({channels}),
                   shift = at::randn({channels});
  struct Arguments {
    at::Tensor x, addend, scale, shift, mean, variance;
  };
  const auto arguments = [&](const at::Device& where, at::ScalarType as) {
    return Arguments{leaf(x, where, as),
                     leaf(addend, where, as),
                     leaf(scale, where, at::kFloat),
                     leaf(shift, where, at::kFloat),
                     at::ones({channels}).to(where),
                     at::ones({channels}).mul(2).to(where)};
  };
  Arguments found = arguments(device, type), expected = arguments(at::kCPU, at::kFloat);
  const at::Tensor y = batch_norm_relu(found.x, add ? found.addend : at::Tensor(), found.scale, found.shift,
                                       found.mean, found.variance);
  y.backward(dy.to(device, type).contiguous(at::MemoryFormat::ChannelsLast));
  at::Tensor sum = at::batch_norm(expected.x, expected.scale, expected.shift, expected.mean,
                                  expected.variance, true, kBatchNormMomentum, kBatchNormEpsilon, false);
  if (add) sum = sum.add(expected.addend);
  // A sum near 0 may be clipped in one type and not in the other; its gradient would then differ altogether.
  // So the reference clips what the fused layer has clipped.
  const at::Tensor passed = y.detach().cpu().gt(0), differs = passed.ne(sum.detach().gt(0));
  const double limit = tolerance(type);
  EXPECT_LT(sum.detach().abs().mul(differs).max().item<double>(), 4 * limit);
  const at::Tensor clipped = sum.mul(passed.to(at::kFloat));
  clipped.backward(dy);

  EXPECT_EQ(y.scalar_type(), type);
  EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_LT(relative_difference(y, clipped), limit);
  EXPECT_LT(relative_difference(found.mean, expected.mean), 1e-4);
  EXPECT_LT(relative_difference(found.variance, expected.variance), 1e-4);
  EXPECT_LT(relative_difference(found.x.grad(), expected.x.grad()), limit);
  if (add) {
    EXPECT_LT(relative_difference(found.addend.grad(), expected.addend.grad()), limit);
  }
  EXPECT_LT(relative_difference(found.scale.grad(), expected.scale.grad()), limit);
  EXPECT_LT(relative_difference(found.shift.grad(), expected.shift.grad()), limit);
}

inline void max_pool_equals_libtorch(const at::Device& device, at::ScalarType type, at::IntArrayRef sizes) {
  SCOPED_TRACE(testing::Message() << type << ", " << sizes);
  at::manual_seed(12);
  const at::Tensor x = at::randint(-3, 4, sizes).to(at::kFloat);  // many equal values
  const at::Tensor mine = leaf(x, device, type), reference = leaf(x, at::kCPU, at::kFloat);
  const at::Tensor y = max_pool_3x3(mine), expected = at::max_pool2d(reference, {3, 3}, {2, 2}, {1, 1});
  ASSERT_EQ(y.sizes(), expected.sizes());
  EXPECT_TRUE(y.detach().cpu().to(at::kFloat).equal(expected.detach()));
  const at::Tensor dy = at::randint(-9, 10, expected.sizes()).to(at::kFloat);
  y.backward(dy.to(device, type));
  expected.backward(dy);
  EXPECT_TRUE(mine.grad().cpu().to(at::kFloat).equal(reference.grad()));
}

// One rounding can decide whether a ReLU clips a value. Then the gradients of a deep network differ by some
// percent of their length (ResNet50 in float32: up to 5 %), single ones by far more.
enum class Gradients { each, together };

// Loss, gradients and running statistics of a network with fused layers and of the same without.
inline void network_equals_unfused(const at::Device& device, const ResNetShape& shape, double limit,
                                   Gradients compared = Gradients::each) {
  const auto run = [&](bool fused) {
    auto model = std::make_unique<ResNet>(
        harness::Row{.fused_batch_norm = fused, .byte_pool_indices = fused, .width = 8, .classes = 10},
        shape);
    model->to(device, true);
    at::manual_seed(5);
    const at::Tensor images = at::randn({8, 3, 64, 64}).to(device).contiguous(at::MemoryFormat::ChannelsLast),
                     labels = at::randint(10, {8}, at::kLong).to(device);
    const at::Tensor loss = at::cross_entropy_loss(model->forward(images), labels);
    loss.backward();
    return std::pair(std::move(model), loss.item<double>());
  };
  const auto [plain, loss] = run(false);
  const auto [fused, fused_loss] = run(true);
  EXPECT_NEAR(fused_loss, loss, limit);
  double difference = 0, length = 0;
  for (size_t i = 0; i < plain->parameters().size(); ++i) {
    const at::Tensor expected = plain->parameters()[i].tensor.grad().cpu(),
                     found = fused->parameters()[i].tensor.grad().cpu();
    difference += found.sub(expected).square().sum().item<double>();
    length += expected.square().sum().item<double>();
    if (compared == Gradients::each) {
      EXPECT_LT(relative_difference(found, expected), 10 * limit) << plain->parameters()[i].name;
    }
  }
  EXPECT_LT(std::sqrt(difference / length), 100 * limit);
  for (size_t i = 0; i < plain->buffers().size(); ++i)
    EXPECT_LT(relative_difference(fused->buffers()[i].tensor, plain->buffers()[i].tensor), limit)
        << plain->buffers()[i].name;
  plain->use_batch_statistics(false);
  fused->use_batch_statistics(false);
  at::NoGradGuard no_grad;
  const at::Tensor images = at::randn({2, 3, 64, 64}).to(device).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_LT(relative_difference(fused->forward(images), plain->forward(images)), 10 * limit);
}

}  // namespace bench::fused_layers_cases
