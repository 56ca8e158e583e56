// train: every precision learns a fixed batch, keeps its types, and stays near float32's gradients.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "bench/train/model/resnet.h"
#include "harness/contract/precision_traits.h"
#include "tests/support/training_setup.h"

namespace bench::precision_test {

std::vector<std::string> registered_precisions() {
  std::vector<std::string> names;
  for (const Value& value : registered_values())
    if (value.axis == "precision") names.push_back(value.name);
  return names;
}

class EveryPrecision : public testing::TestWithParam<std::string> {};

TEST_P(EveryPrecision, LearnsAFixedBatch) {
  at::set_num_threads(1);
  ResNet model({.width = 8, .classes = 10});
  const auto precision = PrecisionRegistry::instance().find(GetParam())({at::kCPU, tiny_row()});
  precision->convert(model);
  at::manual_seed(5);
  const at::Tensor images = at::randn({16, 3, 32, 32}), labels = at::randint(10, {16}, at::kLong);
  float first = 0, last = 0;
  for (int step = 0; step < 25; ++step) {
    const at::Tensor logits = precision->forward(model, images);
    ASSERT_EQ(logits.scalar_type(), at::kFloat);
    const at::Tensor loss = at::cross_entropy_loss(logits, labels);
    precision->scale_loss(loss).backward();
    precision->step(model);
    (step == 0 ? first : last) = loss.item<float>();
  }
  EXPECT_GT(first, 1.5);
  EXPECT_LT(last, 0.3) << "from " << first;
  EXPECT_FALSE(model.parameters()[0].tensor.grad().defined()) << "step() leaves gradients behind";
}

TEST_P(EveryPrecision, WeightsHaveTheTypesOfTheMode) {
  ResNet model({.width = 4, .classes = 10});
  const auto precision = PrecisionRegistry::instance().find(GetParam())({at::kCPU, tiny_row()});
  precision->convert(model);
  const std::string mode = GetParam();
  for (size_t i = 0; i < model.parameters().size(); ++i) {
    const bool sixteen = mode == "o3" || (mode == "o2" && !model.parameters()[i].of_batch_norm);
    EXPECT_EQ(model.parameters()[i].tensor.scalar_type(), sixteen ? at::kBFloat16 : at::kFloat)
        << model.parameters()[i].name;
  }
  EXPECT_EQ(precision->sixteen_bit(), mode == "o0" ? "" : "bfloat16");
}

// By which an emulated device, the plan and the tables cost a format.
TEST_P(EveryPrecision, TakesTheBytesOfItsTraits) {
  const harness::PrecisionTraits& traits = harness::precision_traits(GetParam());
  ResNet model({.width = 4, .classes = 10});
  const auto precision = PrecisionRegistry::instance().find(GetParam())({at::kCPU, tiny_row()});
  precision->convert(model);
  EXPECT_EQ(traits.name, GetParam()) << "add it to harness/contract/precision_traits.h";
  EXPECT_EQ(traits.weight_bytes, model.parameters()[0].tensor.element_size());
  EXPECT_EQ(traits.activation_bytes, c10::elementSize(precision->image_type()));
  const at::Tensor loss = at::ones({});
  EXPECT_EQ(traits.scales_loss, precision->scale_loss(loss).item<float>() != 1);
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryPrecision, testing::ValuesIn(registered_precisions()),
                         [](const auto& info) { return info.param; });

TEST(Autocast, LeavesTheThreadAsItFoundIt) {
  TinyRank rank(tiny_row("single", 1, "o1"));
  rank.precision->forward(*rank.model, at::randn({2, 3, 32, 32}));
  ResNet model({.width = 4, .classes = 10});
  EXPECT_EQ(model.forward(at::randn({2, 3, 32, 32})).scalar_type(), at::kFloat);
}

}  // namespace bench::precision_test
