// train: 16-bit layers computed in float32, against results rounded by hand, the processor's own 16-bit
// instructions, and in whole training steps. CTest runs it a second time as a processor without such
// instructions.
#include "bench/train/precision/in_float32.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/machine.h"
#include "tests/support/training_setup.h"

namespace bench::in_float32_test {

using Tensors = std::vector<at::Tensor>;

const char kNoInstructions[] = "this process has no 16-bit instructions to compare with";

struct Layer {
  const char* name;
  Tensors operands;
  std::function<at::Tensor(const Tensors&)> compute;
};

std::vector<Layer> layers() {
  at::manual_seed(3);
  const at::Tensor images = at::randn({4, 16, 12, 12}), kernels = at::randn({32, 16, 3, 3}),
                   rows = at::randn({24, 96}), weights = at::randn({40, 96}), bias = at::randn({40}),
                   left = at::randn({3, 20, 30}), right = at::randn({3, 30, 10});
  const auto nhwc = [](const at::Tensor& tensor) {
    return tensor.contiguous(at::MemoryFormat::ChannelsLast);
  };
  const auto strided = [](const Tensors& t) { return at::conv2d(t[0], t[1], {}, {2, 2}, {1, 1}); };
  return {
      {"conv2d", {images, kernels}, strided},
      {"conv2d in channels_last", {nhwc(images), nhwc(kernels)}, strided},
      {"conv2d with bias",
       {images, kernels, at::randn({32})},
       [](const Tensors& t) { return at::conv2d(t[0], t[1], t[2]); }},
      {"linear", {rows, weights, bias}, [](const Tensors& t) { return at::linear(t[0], t[1], t[2]); }},
      {"linear without bias", {rows, weights}, [](const Tensors& t) { return at::linear(t[0], t[1]); }},
      {"linear of tokens",
       {rows.view({2, 12, 96}), weights, bias},
       [](const Tensors& t) { return at::linear(t[0], t[1], t[2]); }},
      {"bmm", {left, right}, [](const Tensors& t) { return at::bmm(t[0], t[1]); }},
      {"baddbmm",
       {at::randn({3, 20, 10}), left, right},
       [](const Tensors& t) { return at::baddbmm(t[0], t[1], t[2]); }},
  };
}

// The layer's output and the gradients of its operands, from the same 16-bit numbers in each type, as
// bfloat16.
Tensors results(const Layer& layer, at::ScalarType type) {
  Tensors operands;
  for (const at::Tensor& operand : layer.operands)
    operands.push_back(operand.to(at::kBFloat16).to(type).requires_grad_());
  const at::Tensor y = layer.compute(operands);
  EXPECT_EQ(y.scalar_type(), type) << layer.name;
  at::Generator generator = at::detail::createCPUGenerator(5);
  y.backward(at::randn(y.sizes(), generator).to(at::kBFloat16).to(type));
  Tensors all = {y.detach().to(at::kBFloat16)};
  for (const at::Tensor& operand : operands) {
    EXPECT_EQ(operand.grad().scalar_type(), type) << layer.name;
    all.push_back(operand.grad().to(at::kBFloat16));
  }
  return all;
}

// Equal up to the order of sums. A sum in float32 is off by some 1e-6 of its largest terms in any order.
// Rounded to bfloat16 (8 significant bits) it gives the same number, or the neighbouring one, at most 2^-7
// away, if that much decides between two: in about one of 1000 numbers. Sums in bfloat16 would differ in
// most.
void expect_equal_but_for_the_order(const Tensors& a, const Tensors& b, const char* layer) {
  for (size_t i = 0; i < a.size(); ++i) {
    const at::Tensor x = a[i].to(at::kDouble), y = b[i].to(at::kDouble), error = (x - y).abs();
    const double largest = y.abs().max().item<double>();
    EXPECT_TRUE((error <= y.abs() * 0x1p-7 + 1e-5 * largest).all().item<bool>())
        << layer << ", result " << i << ": " << error.max().item<double>() << " of " << largest;
    EXPECT_LT(error.gt(0).to(at::kDouble).mean().item<double>(), 0.01) << layer << ", result " << i;
  }
}

TEST(InFloat32, LayersAreExactProductsRoundedOnce) {
  const auto kernels = compute_in_float32();
  for (const Layer& layer : layers())
    expect_equal_but_for_the_order(results(layer, at::kBFloat16), results(layer, at::kDouble), layer.name);
}

TEST(InFloat32, LayersAreThoseOfTheInstructions) {
  if (computes_in_float32()) GTEST_SKIP() << kNoInstructions;
  for (const Layer& layer : layers()) {
    const Tensors native = results(layer, at::kBFloat16);
    const auto kernels = compute_in_float32();
    expect_equal_but_for_the_order(results(layer, at::kBFloat16), native, layer.name);
  }
}

TEST(InFloat32, OtherTypesStayAsTheyAre) {
  for (const Layer& layer : layers()) {
    const Tensors before = results(layer, at::kFloat);
    const auto kernels = compute_in_float32();
    const Tensors after = results(layer, at::kFloat);
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i].equal(after[i])) << layer.name;
  }
}

// The gradients of a training step of ResNet18. Batch norm has running statistics, as in the check
// `gradients`: those of a small batch would multiply a difference in one rounding by ten.
Tensors gradients_of_a_step(const std::string& mode) {
  at::set_num_threads(1);
  harness::Row row = tiny_row("single", 1, mode);
  row.width = 16;
  const TinyRank rank(row);
  rank.model->use_batch_statistics(false);
  at::Generator generator = at::detail::createCPUGenerator(7);
  const at::Tensor images = at::randn({16, 3, 64, 64}, generator),
                   labels = at::randint(10, {16}, generator, at::kLong);
  const at::Tensor logits = rank.precision->forward(*rank.model, images);
  at::cross_entropy_loss(logits, labels).mul(128).backward();
  return rank.model->gradient_tensors();
}

// Of the whole gradient vectors.
double relative_distance(const Tensors& a, const Tensors& b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i].to(at::kDouble) - b[i].to(at::kDouble)).square().sum().item<double>();
    norm += b[i].to(at::kDouble).square().sum().item<double>();
  }
  return std::sqrt(difference / norm);
}

class EverySixteenBitMode : public testing::TestWithParam<std::string> {};

TEST_P(EverySixteenBitMode, AStepHasTheGradientsAndTypesOfTheInstructions) {
  if (computes_in_float32()) GTEST_SKIP() << kNoInstructions;
  const Tensors full = gradients_of_a_step("o0"), native = gradients_of_a_step(GetParam());
  const auto kernels = compute_in_float32();
  const Tensors widened = gradients_of_a_step(GetParam());
  for (size_t i = 0; i < native.size(); ++i)
    EXPECT_EQ(widened[i].scalar_type(), native[i].scalar_type()) << i;
  // The order of sums in one layer decides about roundings in all later ones.
  EXPECT_LT(relative_distance(widened, native), 5e-2);  // the check's limit
  EXPECT_LT(relative_distance(widened, native), relative_distance(native, full));
}

TEST_P(EverySixteenBitMode, AStepIsNearFloat32ButRounded) {
  const auto kernels = compute_in_float32();
  const Tensors gradients = gradients_of_a_step(GetParam());
  const double distance = relative_distance(gradients, gradients_of_a_step("o0"));
  EXPECT_GT(distance, 1e-3);
  EXPECT_LT(distance, 0.2);
  const bool sixteen_bit_weights = GetParam() == "o2" || GetParam() == "o3";
  EXPECT_EQ(gradients[0].scalar_type(), sixteen_bit_weights ? at::kBFloat16 : at::kFloat);
}

INSTANTIATE_TEST_SUITE_P(Modes, EverySixteenBitMode, testing::Values("o1", "o2", "o3", "bf16"),
                         [](const auto& info) { return info.param; });

TEST(InFloat32, IsChosenWhereLibTorchMayNotUseTheInstructions) {
  const char* allowed = std::getenv("ONEDNN_MAX_CPU_ISA");
  EXPECT_EQ(computes_in_float32(),
            base::sixteen_bit_instructions().empty() || (allowed && std::string(allowed) == "AVX2"));
}

}  // namespace bench::in_float32_test
