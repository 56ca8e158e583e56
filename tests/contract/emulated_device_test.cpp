// train: An emulated device takes the time that its file says, node by node, and touches no payload.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "bench/train/device/device.h"
#include "bench/train/emulated/network.h"
#include "bench/train/model/resnet.h"
#include "bench/train/optimizer/optimizer.h"
#include "harness/config/device_file.h"

namespace bench::emulated_device_test {
namespace {

constexpr int64_t kImages = 32;

class EmulatedDevice : public testing::Test {
 protected:
  EmulatedDevice() {
    model_.to(device_->torch_device());
    device_->accelerator()->prepare(model_);
  }
  at::Tensor loss() {
    const auto on_device = at::TensorOptions().device(device_->torch_device());
    const at::Tensor logits = model_.forward(at::zeros({kImages, 3, 224, 224}, on_device));
    return at::cross_entropy_loss(logits, at::zeros({kImages}, on_device.dtype(at::kLong)));
  }
  static Nanoseconds tail() { return emulated::machine().timelines.tail(0, 0); }

  const harness::Emulation emulation_{
      harness::read_device_file(harness::device_file(SOURCE_DIR, harness::kDefaultDeviceFile)), 16, 4};
  std::unique_ptr<Device> device_ =
      DeviceRegistry::instance().find("emulated")({.batch_size = kImages, .emulation = &emulation_});
  ResNet model_{harness::Row()};
};

// Else they would be taken for copies within an operator, which take none.
TEST_F(EmulatedDevice, CopiesTakeTimeAfterAnOperatorThatFailed) {
  const auto on_device = at::TensorOptions().device(device_->torch_device());
  const at::Tensor few = at::zeros({4}, on_device), many = at::zeros({1 << 20}, on_device);
  const at::Tensor beyond = at::zeros({1}, at::kLong).add_(9).to(device_->torch_device());
  EXPECT_ANY_THROW(few.index_select(0, beyond));
  const Nanoseconds before = tail();
  many.cpu();
  EXPECT_GT(tail(), before);
}

TEST_F(EmulatedDevice, AStepTakesWhatItsFileSays) {
  const Durations& durations = emulated::machine().durations;
  loss().backward();
  device_->synchronize();
  const Nanoseconds before = emulated::machine().timelines.now(0, 0);
  const at::Tensor value = loss();
  const Nanoseconds forward = tail() - before;
  value.backward();
  const Nanoseconds backward = tail() - before - forward;
  // The loss and its gradient are a few kernels of their launches' length.
  EXPECT_NEAR(double(forward) / double(durations.forward(kImages)), 1, 0.01);
  EXPECT_NEAR(double(backward) / double(durations.backward(kImages)), 1, 0.01);

  const auto sgd = make_optimizer(harness::Row());
  sgd->step(model_.parameter_tensors(), model_.gradient_tensors());
  const Nanoseconds stepped = tail();
  sgd->step(model_.parameter_tensors(), model_.gradient_tensors());
  EXPECT_NEAR(double(tail() - stepped) / double(durations.optimizer()), 1, 0.02);
}

TEST_F(EmulatedDevice, GradientsBecomeReadyNodeByNodeFromTheLastLayerOn) {
  std::vector<std::pair<std::string, Nanoseconds>> ready;
  for (const NamedTensor& parameter : model_.parameters())
    parameter.tensor.register_hook([&ready, name = parameter.name](const at::Tensor& gradient) {
      ready.emplace_back(name, tail());
      return gradient;
    });
  loss().backward();
  ASSERT_EQ(ready.size(), model_.parameters().size());
  EXPECT_EQ(ready.front().first.substr(0, 3), "fc.");
  std::map<Nanoseconds, int> instants;
  for (size_t i = 0; i < ready.size(); ++i) {
    EXPECT_GE(ready[i].second, ready[i == 0 ? 0 : i - 1].second);
    ++instants[ready[i].second];
  }
  EXPECT_EQ(instants.size(), 21u) << "20 convolutions and the classifier";
  EXPECT_EQ(ready.back().first.substr(0, 2), "bn") << ready.back().first;
}

TEST_F(EmulatedDevice, LayersShareTheTimeByTheirOperations) {
  double all = 0;
  const auto layers = emulated::layers_of(model_, 224);
  ASSERT_EQ(layers.size(), 21u);
  for (const emulated::Layer& layer : layers) all += layer.share;
  EXPECT_NEAR(all, 1, 1e-12);
  // He et al. 2015, table 1: 1.8e9 multiply-adds, of which the first convolution has 118e6.
  EXPECT_NEAR(layers[0].share, 0.118013952 / 1.814073344, 1e-4);
}

TEST_F(EmulatedDevice, AHostThatWaitsForItsDeviceIsNotAhead) {
  const at::Tensor value = device_->read(loss());
  EXPECT_GE(steady_now(), emulated::machine().timelines.now(0, 0));
  EXPECT_TRUE(value.is_cpu());
  EXPECT_FALSE(device_->computes());
}

}  // namespace
}  // namespace bench::emulated_device_test
