// gpu: the CUDA device: its kernel compared with LibTorch, copies and their order, the device clock, memory.
#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include "bench/train/backend/staging.h"
#include "bench/train/captured_step.h"
#include "bench/train/cuda/clock.h"
#include "bench/train/cuda/normalise.h"
#include "bench/train/device/device.h"
#include "bench/train/model/resnet.h"
#include "bench/train/precision/precision.h"
#include "bench/train/strategy/side_stream.h"
#include "tests/support/training_setup.h"

namespace bench::cuda_test {

class CudaTest : public testing::Test {
 protected:
  static std::unique_ptr<Device> device(const DeviceOptions& options) {
    return DeviceRegistry::instance().find("cuda")(options);
  }
};

at::Tensor of_channels(float (*value)(int)) {
  return at::tensor({value(0), value(1), value(2)}, at::kFloat).view({1, 3, 1, 1}).cuda();
}

TEST_F(CudaTest, NormalisesAsLibTorchDoesInEveryTypeAndOrder) {
  const std::vector<std::pair<ImageType, at::ScalarType>> types = {{ImageType::float32, at::kFloat},
                                                                   {ImageType::float16, at::kHalf},
                                                                   {ImageType::bfloat16, at::kBFloat16}};
  for (const int64_t side : {1, 7, 32, 33, 224})
    for (const bool channels_last : {false, true})
      for (const auto& [type, torch_type] : types) {
        const int64_t images = side == 224 ? 5 : 3;
        const at::Tensor pixels = at::randint(256, {images, side, side, 3}, at::kByte).cuda();
        const at::Tensor expected = pixels.permute({0, 3, 1, 2})
                                        .to(at::kFloat)
                                        .mul(of_channels(normalise_scale))
                                        .add(of_channels(normalise_shift));
        const at::Tensor found =
            at::empty({images, 3, side, side}, at::TensorOptions(torch_type).device(at::kCUDA),
                      channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
        found.fill_(-100);
        normalise(pixels.const_data_ptr<uint8_t>(), found.mutable_data_ptr(), type, channels_last, images,
                  side, c10::cuda::getCurrentCUDAStream());
        const double limit = torch_type == at::kFloat ? 1e-6 : torch_type == at::kHalf ? 2e-3 : 2e-2;
        EXPECT_LT(found.to(at::kFloat).sub(expected).abs().max().item<double>(), limit)
            << side << " px, " << torch_type << (channels_last ? ", channels last" : "");
      }
}

TEST_F(CudaTest, BatchesArriveWholeAndInTheirOrder) {
  for (const std::string name : {"float32", "channels_last", "uint8"})
    for (const bool pinned : {true, false})
      for (const bool non_blocking : {true, false})
        for (const bool channels_last : {false, true}) {
          const DeviceOptions options{.row = {.batch_format = name,
                                              .pinned = pinned,
                                              .non_blocking = non_blocking,
                                              .channels_last = channels_last,
                                              .image_px = 32},
                                      .batch_size = 4};
          const BatchFormat format = options.format();
          const auto gpu = device(options), cpu = DeviceRegistry::instance().find("cpu")(options);
          const HostAllocator allocate = gpu->accelerator()->host_allocator()
                                             ? gpu->accelerator()->host_allocator()
                                             : HostAllocator(BatchBuffer::on_heap);
          std::vector<BatchBuffer> buffers;
          for (int i = 0; i < 5; ++i) {
            buffers.emplace_back(4, bytes_per_image(format, 32), allocate);
            const int64_t bytes = 4 * bytes_per_image(format, 32);
            if (format == BatchFormat::uint8)
              for (int64_t b = 0; b < bytes; ++b) buffers.back().images()[b] = uint8_t(b * 7 + i * 13);
            else
              for (int64_t f = 0; f < bytes / 4; ++f)
                reinterpret_cast<float*>(buffers.back().images())[f] = float(f % 1000) + float(i) * 0.25f;
            for (int64_t label = 0; label < 4; ++label) buffers.back().labels()[label] = 10 * i + label;
          }
          std::vector<int64_t> returned;
          for (int i = 0; i < 5; ++i) {
            const Batch batch{buffers[i].images(), buffers[i].labels(), 4, i};
            const DeviceBatch there = gpu->copy_batch(batch), here = cpu->copy_batch(batch);
            EXPECT_TRUE(there.images.cpu().allclose(here.images, 1e-5, 1e-5)) << "batch " << i;
            EXPECT_TRUE(there.labels.cpu().equal(here.labels));
            EXPECT_TRUE(!channels_last || there.images.is_contiguous(at::MemoryFormat::ChannelsLast));
            if (const auto copied = gpu->take_copied()) returned.push_back(copied->number);
          }
          gpu->synchronize();
          while (const auto copied = gpu->take_copied()) returned.push_back(copied->number);
          EXPECT_EQ(returned, (std::vector<int64_t>{0, 1, 2, 3, 4}));
        }
}

TEST_F(CudaTest, TheDeviceClockTellsWhenTheDeviceWorked) {
  CudaClock device(/*marks=*/8);
  PhaseClock clock(2, true, &device);
  const at::Tensor a = at::randn({2048, 2048}).cuda();
  at::Tensor product = a.matmul(a);  // the first one loads libraries
  at::cuda::getCurrentCUDAStream().synchronize();
  clock.start();
  for (int batch = 0; batch < 2; ++batch) {
    clock.enter(Phase::load);
    clock.enter(Phase::forward);
    for (int i = 0; i < 20; ++i) product = a.matmul(a);
    clock.enter(Phase::other);
    clock.next_batch();
  }
  c10::cuda::device_synchronize();
  for (int batch = 0; batch < 2; ++batch) {
    const double launched = clock.milliseconds(Phase::forward, batch, 1)[0];
    const double computed = device.milliseconds(Phase::forward, batch, 1)[0];
    EXPECT_GT(computed, launched) << "the host only launches";
    EXPECT_LT(device.milliseconds(Phase::load, batch, 1)[0], computed / 10);
  }
}

// One step of each precision from the same weights on the same images, compared with the CPU in float32.
TEST_F(CudaTest, EveryPrecisionTrains) {
  const at::Tensor images = at::randn({8, 3, 64, 64}), labels = at::randint(10, {8}, at::kLong);
  const auto loss_after = [&](const std::string& name, const at::Device& where) {
    if (where.is_cuda()) device({.row = {.tf32 = false, .image_px = 64}, .batch_size = 8});
    ResNet model({.width = 16, .classes = 10});
    model.to(where);
    const auto precision = PrecisionRegistry::instance().find(name)({where, tiny_row()});
    precision->convert(model);
    std::vector<double> losses;
    for (int step = 0; step < 4; ++step) {
      const at::Tensor loss =
          at::cross_entropy_loss(precision->forward(model, images.to(where)), labels.to(where));
      losses.push_back(loss.item<double>());
      precision->scale_loss(loss).backward();
      precision->step(model);
    }
    return losses;
  };
  const auto reference = loss_after("o0", at::kCPU);
  for (const char* name : {"o0", "o1", "o2", "o3", "bf16"}) {
    const auto losses = loss_after(name, at::Device(at::kCUDA, 0));
    EXPECT_NEAR(losses[0], reference[0], name == std::string("o0") ? 1e-3 : 0.1) << name;
    // 16-bit modes with a scaler may skip the first steps, until the scale is small enough.
    EXPECT_TRUE(std::isfinite(losses[3])) << name;
    for (int step = 0; step < 4 && name == std::string("o0"); ++step)
      EXPECT_NEAR(losses[step], reference[step], 2e-2) << step;
  }
}

// The same slice of a tiny network, its steps recorded or not.
TEST_F(CudaTest, ARecordedStepTrainsAsAnyOther) {
  harness::Row row = tiny_row();
  row.warmup_batches = 0;
  row.timed_batches = 12;
  for (const char* name : {"o0", "o1", "o2"}) {
    const auto losses = [&](bool recorded) {
      TinyRank rank(row);
      DeviceOptions options{.row = row, .batch_size = row.batch};
      options.row.tf32 = false;
      options.row.cuda_graphs = true;  // the same stream for both
      const auto gpu = device(options);
      const auto made = make_model(row);
      Model& model = *made;
      model.to(gpu->torch_device());
      const auto precision = PrecisionRegistry::instance().find(name)({gpu->torch_device(), row});
      precision->convert(model);
      const auto strategy =
          StrategyRegistry::instance().find("single")({row, model, *precision, *gpu, *rank.group});
      SliceParts parts{row,       *rank.loader, *gpu,       model,      *precision,
                       *strategy, *rank.group,  *rank.link, rank.spans, rank.slot};
      CapturedStep step(parts);
      if (recorded) parts.recorded = &step;
      const auto loss = run_slice(parts).loss;
      EXPECT_EQ(step.recordings(), recorded ? 2 : 0) << "one for each buffer of the device";
      return loss;
    };
    const auto expected = losses(false), found = losses(true);
    for (size_t batch = 0; batch < expected.size(); ++batch)
      EXPECT_NEAR(found[batch], expected[batch], 2e-2) << name << ", batch " << batch;
  }
}

TEST_F(CudaTest, HandsImagesOutInTheTypeThatTheNetworkTakes) {
  const auto gpu = device({.row = {.batch_format = "uint8", .image_px = 32}, .batch_size = 2});
  gpu->accelerator()->use_image_type(at::kBFloat16);
  BatchBuffer host(2, bytes_per_image(BatchFormat::uint8, 32), gpu->accelerator()->host_allocator());
  std::fill_n(host.images(), 2 * bytes_per_image(BatchFormat::uint8, 32), uint8_t(200));
  host.labels()[0] = host.labels()[1] = 1;
  const at::Tensor images = gpu->copy_batch({host.images(), host.labels(), 2, 0}).images;
  EXPECT_EQ(images.scalar_type(), at::kBFloat16);
  EXPECT_NEAR(images[0][0][5][5].item<float>(), 200 * normalise_scale(0) + normalise_shift(0), 2e-2);
}

TEST_F(CudaTest, TensorsTravelThroughHostMemory) {
  const at::Tensor tensor = at::randn({1000, 37}).cuda(), before = tensor.clone();
  Staging staging(tensor);
  at::Tensor host = staging.to_host();
  EXPECT_TRUE(host.is_pinned());
  host.add_(1);
  staging.to_device();
  EXPECT_TRUE(tensor.equal(before + 1));
}

TEST_F(CudaTest, ASideStreamWaitsAndHoldsUp) {
  const at::Tensor a = at::randn({2048, 2048}).cuda();
  SideStream side(a.device());
  at::Tensor product = a;
  for (int i = 0; i < 20; ++i) product = product.matmul(a).mul(1.0 / 64);
  side.wait_for_current();
  at::Tensor copy;
  {
    const auto in_side_stream = side.enter();
    copy = product.clone();
  }
  side.hold_up_current();
  EXPECT_TRUE(copy.equal(product));
}

TEST_F(CudaTest, ReplicasOnGpusOfTheirOwnHaveOneStateAndOneGradient) {
  if (at::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  ResNet first({.width = 8, .classes = 10}), second({.width = 8, .classes = 10, .seed = 2});
  first.to({at::kCUDA, 0});
  second.to({at::kCUDA, 1});
  const auto exchange =
      device({.row = {.image_px = 32}, .batch_size = 4})->accelerator()->make_exchange({&first, &second});
  ASSERT_TRUE(exchange);
  exchange->broadcast();
  for (size_t i = 0; i < first.parameters().size(); ++i)
    EXPECT_TRUE(first.parameters()[i].tensor.cpu().equal(second.parameters()[i].tensor.cpu()));
  for (Model* model : {&first, &second})
    for (const NamedTensor& parameter : model->parameters())
      at::Tensor(parameter.tensor).mutable_grad() = at::ones_like(parameter.tensor);
  exchange->reduce();
  for (const at::Tensor& gradient : first.gradient_tensors()) EXPECT_TRUE(gradient.eq(2).all().item<bool>());
}

TEST_F(CudaTest, MoreMemoryThanThereIsIsOutOfMemory) {
  const auto gpu = device({.row = {.image_px = 32}, .batch_size = 4});
  const double bytes = double(gpu->describe().at("memory_bytes").get<int64_t>());
  try {
    at::empty({int64_t(2 * bytes)}, at::TensorOptions(at::kByte).device(at::kCUDA));
    FAIL();
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("out of memory"), std::string::npos);
  }
}

}  // namespace bench::cuda_test
