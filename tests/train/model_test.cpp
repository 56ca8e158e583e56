// train: ResNet18 and SGD against PyTorch's Python result on the same weights and batch (tests/golden).
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/train/model/resnet.h"
#include "bench/train/precision/precision.h"
#include "tests/support/safetensors.h"

namespace bench::model_test {

class PythonFixture : public testing::Test {
 protected:
  PythonFixture()
      : golden(read_safetensors(SOURCE_DIR "/tests/golden/resnet_fixture.safetensors")),
        model({.width = 4, .classes = 10}) {
    at::NoGradGuard no_grad;
    for (const auto* list : {&model.parameters(), &model.buffers()})
      for (const NamedTensor& entry : *list)
        at::Tensor(entry.tensor).copy_(golden.at("before." + entry.name));
  }
  void expect_close(const at::Tensor& found, const std::string& name, double tolerance) {
    const at::Tensor expected = golden.at(name);
    ASSERT_EQ(found.sizes(), expected.sizes()) << name;
    EXPECT_TRUE(at::allclose(found.detach().to(at::kFloat), expected.to(at::kFloat), tolerance, tolerance))
        << name << ": largest difference "
        << found.detach().to(at::kFloat).sub(expected.to(at::kFloat)).abs().max().item<float>();
  }
  std::map<std::string, at::Tensor> golden;
  ResNet model;
};

TEST_F(PythonFixture, HasEveryNameOfTorchvision) {
  size_t names = 0;
  for (const auto& [name, tensor] : golden) names += name.rfind("before.", 0) == 0;
  EXPECT_EQ(names, model.parameters().size() + model.buffers().size());
}

TEST_F(PythonFixture, LossGradientsStatisticsAndTwoStepsAreEqual) {
  const auto o0 = PrecisionRegistry::instance().find("o0")({at::kCPU, {}});
  for (int step = 0; step < 2; ++step) {
    const at::Tensor logits = o0->forward(model, golden.at("images"));
    const at::Tensor loss = at::cross_entropy_loss(logits, golden.at("labels"));
    loss.backward();
    if (step == 0) {
      expect_close(logits, "logits", 1e-5);
      expect_close(loss, "loss", 1e-6);
      for (const NamedTensor& p : model.parameters())
        expect_close(p.tensor.grad(), "gradient." + p.name, 2e-5);
      for (const NamedTensor& b : model.buffers()) expect_close(b.tensor, "after1." + b.name, 1e-5);
    }
    o0->step(model);
  }
  for (const NamedTensor& p : model.parameters()) expect_close(p.tensor, "after2." + p.name, 1e-4);
}

// As with gradients that are views of buckets, of two types as under O2.
TEST(ResNet, KeptGradientsAreZeroedInPlaceWhateverTheirTypeAndLayout) {
  ResNet model({.width = 4, .classes = 10});
  for (size_t i = 0; i < model.parameters().size(); i += 2) model.convert(i, at::kHalf);
  const at::Tensor none = model.parameters()[5].tensor;
  std::vector<at::Tensor> buckets, expected;
  std::vector<const void*> places;
  for (const NamedTensor& parameter : model.parameters()) {
    const at::Tensor& tensor = parameter.tensor;
    buckets.push_back(at::full({tensor.numel() + 3}, std::nan(""), tensor.options()));
    const at::Tensor view = buckets.back().narrow(0, 1, tensor.numel());
    if (!tensor.is_same(none))
      tensor.mutable_grad() =
          tensor.dim() == 4
              ? view.as_strided(tensor.sizes(), tensor.contiguous(at::MemoryFormat::ChannelsLast).strides())
              : view.view(tensor.sizes());
    places.push_back(tensor.grad().defined() ? tensor.grad().const_data_ptr() : nullptr);
    expected.push_back(buckets.back().clone());
    if (!tensor.is_same(none)) expected.back().narrow(0, 1, tensor.numel()).zero_();
  }
  model.keep_gradient_memory(true);
  model.clear_gradients();
  EXPECT_FALSE(none.grad().defined());
  for (size_t i = 0; i < buckets.size(); ++i) {
    const at::Tensor& gradient = model.parameters()[i].tensor.grad();
    EXPECT_EQ(gradient.defined() ? gradient.const_data_ptr() : nullptr, places[i]);
    EXPECT_TRUE(at::allclose(buckets[i], expected[i], 0, 0, /*equal_nan=*/true)) << i;
  }
}

TEST(ResNet, SameSeedSameWeights) {
  const ResNet a({.width = 4, .classes = 10, .seed = 3}), b({.width = 4, .classes = 10, .seed = 3}),
      c({.width = 4, .classes = 10, .seed = 4});
  EXPECT_TRUE(a.parameters()[0].tensor.equal(b.parameters()[0].tensor));
  EXPECT_FALSE(a.parameters()[0].tensor.equal(c.parameters()[0].tensor));
}

}  // namespace bench::model_test
