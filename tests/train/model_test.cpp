// train: ResNet18 and SGD against PyTorch's Python result on the same weights and batch (tests/golden).
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <gtest/gtest.h>

#include "bench/train/model/resnet.h"
#include "bench/train/precision/precision.h"
#include "tests/support/safetensors.h"

namespace bench::model_test {

class PythonFixture : public testing::Test {
 protected:
  PythonFixture()
      : golden(read_safetensors(SOURCE_DIR "/tests/golden/resnet_fixture.safetensors")), model({4, 10, 1}) {
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
  const auto o0 = PrecisionRegistry::instance().find("o0")({at::kCPU, {0.1, 0.9, 1e-4}});
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

TEST(ResNet, HasTorchvisionsSizeAtFullWidth) {
  const ResNet model({64, 1000, 1});
  int64_t numbers = 0;
  for (const NamedTensor& p : model.parameters()) numbers += p.tensor.numel();
  EXPECT_EQ(numbers, 11689512);
}

TEST(ResNet, SameSeedSameWeights) {
  const ResNet a({4, 10, 3}), b({4, 10, 3}), c({4, 10, 4});
  EXPECT_TRUE(a.parameters()[0].tensor.equal(b.parameters()[0].tensor));
  EXPECT_FALSE(a.parameters()[0].tensor.equal(c.parameters()[0].tensor));
}

}  // namespace bench::model_test
