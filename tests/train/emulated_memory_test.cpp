// train: an emulated device counts the memory that tensors hold on it: activations as many as PyTorch keeps.
#include <ATen/Parallel.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Allocator.h>
#include <gtest/gtest.h>

#include "bench/train/device/device.h"
#include "bench/train/emulated/memory.h"
#include "bench/train/model/resnet.h"
#include "bench/train/optimizer/optimizer.h"
#include "harness/config/device_file.h"

namespace bench::emulated_memory_test {
namespace {

constexpr int64_t kImages = 4, kPx = 64;

// Bytes that this thread's tensors hold in host memory, as LibTorch's allocator reports them.
class HostMemory {
 public:
  int64_t bytes() const { return report_->bytes; }

 private:
  struct Report : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) override { bytes += size; }
    bool memoryProfilingEnabled() const override { return true; }
    int64_t bytes = 0;
  };
  std::shared_ptr<Report> report_ = std::make_shared<Report>();
  c10::DebugInfoGuard guard_{c10::DebugInfoKind::PROFILER_STATE, report_};
};

class EmulatedMemory : public testing::Test {
 protected:
  std::unique_ptr<Device> device(int64_t batch_divisor, const std::string& precision = "o0") {
    emulation_.batch_divisor = batch_divisor;
    return DeviceRegistry::instance().find("emulated")(
        {.row = {.precision = precision, .image_px = kPx}, .batch_size = kImages, .emulation = &emulation_});
  }
  static int64_t used() { return emulated::memory_use(0).bytes; }

  harness::Emulation emulation_{
      harness::read_device_file(harness::device_file(SOURCE_DIR, harness::kDefaultDeviceFile)), 1, 1};
};

class KeptByNetwork : public EmulatedMemory, public testing::WithParamInterface<const ResNetShape*> {};

TEST_P(KeptByNetwork, ForwardKeepsAsManyBytesAsPyTorch) {
  at::set_num_threads(1);
  const harness::Row options{.width = 16, .classes = 10};
  int64_t kept_by_pytorch = 0;
  {
    ResNet real(options, *GetParam());
    const at::Tensor images = at::zeros({kImages, 3, kPx, kPx});
    const HostMemory memory;
    const at::Tensor logits = real.forward(images);
    kept_by_pytorch = memory.bytes();
  }
  ASSERT_GT(kept_by_pytorch, kImages * 100'000);
  const auto place = device(1);
  ResNet model(options, *GetParam());
  model.to(place->torch_device());
  place->accelerator()->prepare(model);
  const at::Tensor images =
      at::zeros({kImages, 3, kPx, kPx}, at::TensorOptions().device(place->torch_device()));
  const int64_t before = used();
  at::Tensor logits = model.forward(images);
  EXPECT_NEAR(double(used() - before), double(kept_by_pytorch), 0.01 * double(kept_by_pytorch));
  const at::Tensor labels = at::zeros({kImages}, at::TensorOptions(at::kLong).device(place->torch_device()));
  at::cross_entropy_loss(logits, labels).backward();
  logits.reset();
  int64_t parameters = 0;
  for (const at::Tensor& parameter : model.parameter_tensors()) parameters += int64_t(parameter.nbytes());
  EXPECT_NEAR(double(used() - before), double(parameters), 0.01 * double(parameters))
      << "the gradients remain";
  const auto sgd = make_optimizer(harness::Row());
  sgd->step(model.parameter_tensors(), model.gradient_tensors());
  EXPECT_NEAR(double(used() - before), 2 * double(parameters), 0.02 * double(parameters))
      << "and the momenta";
}

INSTANTIATE_TEST_SUITE_P(Networks, KeptByNetwork, testing::Values(&resnet18(), &resnet50()));

TEST_F(EmulatedMemory, TheWholeEmulatedBatchCountsInTheTypeOfThePrecision) {
  const auto kept = [&](int64_t divisor, const std::string& precision) {
    const auto place = device(divisor, precision);
    ResNet model({.width = 16, .classes = 10});
    model.to(place->torch_device());
    place->accelerator()->prepare(model);
    const at::Tensor images =
        at::zeros({kImages, 3, kPx, kPx}, at::TensorOptions().device(place->torch_device()));
    const int64_t before = used();
    const at::Tensor logits = model.forward(images);
    return double(used() - before);
  };
  const double one = kept(1, "o0");
  EXPECT_NEAR(kept(8, "o0") / one, 8, 0.05);
  const double half = kept(1, "o2") / one;
  EXPECT_GT(half, 0.5) << "indices stay as long";
  EXPECT_LT(half, 0.6);
}

TEST_F(EmulatedMemory, ABatchThatDoesNotFitIsOutOfMemory) {
  emulation_.device.memory_gib.value = 0.02;
  const auto place = device(1);
  ResNet model({.width = 16, .classes = 10});
  model.to(place->torch_device());
  place->accelerator()->prepare(model);
  const auto on_device = at::TensorOptions().device(place->torch_device());
  EXPECT_NO_THROW(model.forward(at::zeros({kImages, 3, kPx, kPx}, on_device)));
  const int64_t before = used();
  try {
    model.forward(at::zeros({64, 3, kPx, kPx}, on_device));
    FAIL() << "64 images fit";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("out of memory: emulated device 0 has 0.02 GiB"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(used(), before) << "what was allocated on the way is free again";
}

}  // namespace
}  // namespace bench::emulated_memory_test
