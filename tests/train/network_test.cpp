// train: every network against PyTorch's Python result on the same weights and batch (tests/golden), and what
// their fields change.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "bench/train/model/model.h"
#include "tests/support/safetensors.h"

namespace bench::network_test {

struct Network {
  std::string name;
  int64_t width, image_px;
};
class NetworkOfPython : public testing::TestWithParam<Network> {};

TEST_P(NetworkOfPython, HasItsNamesLogitsLossGradientsAndStatistics) {
  const Network network = GetParam();
  auto golden = read_safetensors(SOURCE_DIR "/tests/golden/" + network.name + "_fixture.safetensors");
  const auto model = ModelRegistry::instance().find(network.name)(
      {.width = network.width, .image_px = network.image_px, .classes = 10});
  size_t names = 0;
  for (const auto& [name, tensor] : golden) names += name.rfind("before.", 0) == 0;
  ASSERT_EQ(names, model->parameters().size() + model->buffers().size());
  {
    at::NoGradGuard no_grad;
    for (const auto* list : {&model->parameters(), &model->buffers()})
      for (const NamedTensor& entry : *list) {
        ASSERT_EQ(entry.tensor.sizes(), golden.at("before." + entry.name).sizes()) << entry.name;
        at::Tensor(entry.tensor).copy_(golden.at("before." + entry.name));
      }
  }
  // As Python's: 50 layers of batch norm over few values amplify float32's rounding.
  for (size_t i = 0; i < model->parameters().size(); ++i) model->convert(i, at::kDouble);
  for (const NamedTensor& buffer : model->buffers())
    if (buffer.tensor.is_floating_point()) at::Tensor(buffer.tensor).set_data(buffer.tensor.to(at::kDouble));
  const auto expect_close = [&](const at::Tensor& found, const std::string& name, double tolerance) {
    const at::Tensor expected = golden.at(name);
    EXPECT_TRUE(at::allclose(found.detach().to(at::kFloat), expected.to(at::kFloat), tolerance, tolerance))
        << name << ": largest difference "
        << found.detach().to(at::kFloat).sub(expected.to(at::kFloat)).abs().max().item<float>();
  };
  const at::Tensor logits = model->forward(golden.at("images").to(at::kDouble));
  const at::Tensor loss = at::cross_entropy_loss(logits, golden.at("labels"));
  loss.backward();
  expect_close(logits, "logits", 1e-5);
  expect_close(loss, "loss", 1e-5);
  for (const NamedTensor& p : model->parameters()) expect_close(p.tensor.grad(), "gradient." + p.name, 1e-5);
  for (const NamedTensor& b : model->buffers()) expect_close(b.tensor, "after1." + b.name, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, NetworkOfPython,
                         testing::Values(Network{"resnet50", 2, 48}, Network{"vit_tiny", 4, 32}),
                         [](const auto& network) { return network.param.name; });

// torchvision's counts of resnet50 and of a VisionTransformer with DeiT-Ti's sizes.
TEST(Network, HasItsSizeAtFullWidth) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"resnet18", 11689512}, {"resnet50", 25557032}, {"vit_tiny", 5717416}};
  for (const auto& [name, expected] : sizes) {
    int64_t numbers = 0;
    for (const NamedTensor& p : ModelRegistry::instance().find(name)({})->parameters())
      numbers += p.tensor.numel();
    EXPECT_EQ(numbers, expected) << name;
  }
}

TEST(Network, DropsActivationsOnlyInTraining) {
  at::NoGradGuard no_grad;
  const at::Tensor images = at::randn({2, 3, 32, 32}), head = at::randn({10, 12});
  for (const char* name : {"resnet18", "resnet50", "vit_tiny"}) {
    harness::Row options{.width = 4, .image_px = 32, .classes = 10};
    const auto plain = ModelRegistry::instance().find(name)(options);
    options.dropout = 0.5;
    const auto dropping = ModelRegistry::instance().find(name)(options);
    for (const auto* model : {&plain, &dropping})
      for (const NamedTensor& p : (*model)->parameters())
        if (p.name == "heads.head.weight") at::Tensor(p.tensor).copy_(head);  // zeros hide what the blocks do
    plain->use_batch_statistics(false);
    dropping->use_batch_statistics(false);
    EXPECT_TRUE(plain->forward(images).equal(dropping->forward(images))) << name;
    dropping->use_batch_statistics(true);
    EXPECT_FALSE(dropping->forward(images).equal(dropping->forward(images))) << name;
  }
}

TEST(Network, ATransformerRefusesImagesThatItsPatchesDontDivide) {
  EXPECT_THROW(ModelRegistry::instance().find("vit_tiny")({.width = 4, .image_px = 40, .classes = 10}),
               std::invalid_argument);
}

}  // namespace bench::network_test
