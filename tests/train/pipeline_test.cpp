// train: On emulated devices two stages with micro-batches take (m + p - 1) / m of the ideal time, and both
// hold about half of the network's memory.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "bench/train/emulated/memory.h"
#include "bench/train/emulated/network.h"
#include "bench/train/strategy/strategy.h"
#include "harness/config/device_file.h"

namespace bench::pipeline_test {
namespace {

constexpr int64_t kImages = 64, kPx = 224;

harness::Emulation linear_device() {
  harness::Emulation emulation{
      .device = harness::read_device_file(harness::device_file(SOURCE_DIR, harness::kDefaultDeviceFile)),
      .time_scale = 4};
  // Micro-batches take in proportion to their images, launches and copies nothing: only what the schedule
  // leaves idle is measured.
  emulation.device.launch_us.value = 0;
  emulation.device.peer_gb_per_s.value = emulation.device.d2h_gb_per_s.value = 1e4;
  for (auto& [model, of_model] : emulation.device.models)
    for (auto& [precision, costs] : of_model) costs.forward_ms.value = costs.backward_ms.value = 0;
  return emulation;
}

struct Pipeline {
  explicit Pipeline(int64_t devices, int64_t parts) {
    row.model = "resnet50";
    row.strategy = "split_model";
    row.devices = devices;
    row.batch = kImages;
    row.pipeline_micro_batches = parts;
    device = DeviceRegistry::instance().find("emulated")(
        {.row = row, .batch_size = kImages, .emulation = &emulation});
    model = make_model(row);
    model->to(device->torch_device());
    device->accelerator()->prepare(*model);
    precision = PrecisionRegistry::instance().find("o0")({device->torch_device(), row});
    group = GroupRegistry::instance().find("none")({});
    strategy = StrategyRegistry::instance().find(row.strategy)({row, *model, *precision, *device, *group});
  }
  // Forward and backward pass in nanoseconds of the emulated devices.
  Nanoseconds step() {
    const auto on_device = at::TensorOptions().device(device->torch_device());
    PhaseClock unused(1, false);
    const Nanoseconds begin = end();
    const at::Tensor logits = strategy->forward(at::zeros({kImages, 3, kPx, kPx}, on_device), unused);
    strategy->backward(at::cross_entropy_loss(logits, at::zeros({kImages}, on_device.dtype(at::kLong))),
                       unused);
    const Nanoseconds took = end() - begin;
    precision->step(*model);
    return took;
  }
  Nanoseconds end() const {
    Nanoseconds last = 0;
    for (int one = 0; one < row.devices; ++one) {
      const Timelines& timelines = emulated::machine().timelines;
      last = std::max({last, timelines.tail_of_all(one), timelines.now(one, 0)});
    }
    return last;
  }

  harness::Row row;
  harness::Emulation emulation = linear_device();
  std::unique_ptr<Device> device;
  std::unique_ptr<Model> model;
  std::unique_ptr<Precision> precision;
  std::unique_ptr<Group> group;
  std::unique_ptr<Strategy> strategy;
};

// Of m micro-batches the slower stage works on all, one after another, and the other one on one of them. For
// equal stages that is (m + 1) / m of the ideal in which both always work; ResNet50's halves are 53.5
// and 46.5 %.
TEST(PipelineOnEmulatedDevices, TakesTheTimeOfGPipesSchedule) {
  for (const double parts : {1, 2, 4, 8}) {
    Pipeline pipeline(2, int64_t(parts));
    pipeline.step();  // creates the optimizer's state
    const double took = double(pipeline.step());
    double first = 0;
    for (const emulated::Layer& layer : emulated::layers_of(*pipeline.model, kPx))
      if (layer.unit < pipeline.model->units() / 2) first += layer.share;
    EXPECT_NEAR(first, 0.535, 0.001);
    const Durations& durations = emulated::machine().durations;
    const double all = double(durations.forward(kImages) + durations.backward(kImages)),
                 slower = std::max(first, 1 - first);
    EXPECT_NEAR(took / (all / parts * (1 + (parts - 1) * slower)), 1, 0.02) << parts << " micro-batches";
    EXPECT_NEAR(took / (all / 2 * (parts + 1) / parts), 1, 0.06) << parts << ", as if they were equal";
  }
}

TEST(PipelineOnEmulatedDevices, PairsOfStagesShareTheBatch) {
  Pipeline one(2, 2);
  one.step();
  const Nanoseconds alone = one.step();
  Pipeline four(8, 2);
  four.step();
  const double share = double(four.step()) / double(alone);
  EXPECT_GT(share, 0.25) << "a quarter of the images, and weights to exchange";
  EXPECT_LT(share, 0.5);
}

TEST(PipelineOnEmulatedDevices, EachDeviceHoldsItsStage) {
  Pipeline split(2, 1);
  split.step();
  const double first = double(emulated::memory_use(0).peak_bytes),
               second = double(emulated::memory_use(1).peak_bytes);
  EXPECT_GT(first, 0.1 * second);
  EXPECT_GT(second, 0.1 * first);
}

}  // namespace
}  // namespace bench::pipeline_test
