#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>

#include "bench/train/device/device.h"
#include "bench/train/precision/precision.h"
#include "bench/train/probes.h"

namespace bench {

bool tells_of_memory(std::string_view error) {
  for (const char* words :
       {"not enough memory", "out of memory", "can't allocate memory", "Cannot allocate memory",
        "STATUS_ALLOC_FAILED", "CUBLAS_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_NOT_INITIALIZED"})
    if (error.find(words) != std::string_view::npos) return true;
  return false;
}

static void train(const harness::Row& row, int64_t images) {
  constexpr int kSteps = 3;  // the first allocates momenta, master weights and cuDNN's workspaces
  const auto device = DeviceRegistry::instance().find(row.device)({.batch_size = images,
                                                                   .image_px = row.image_px,
                                                                   .intra_op_threads = row.intra_op_threads,
                                                                   .format = batch_format(row.batch_format)});
  const at::Device place = device->torch_device();
  const auto model = make_model(row);
  model->to(place, row.channels_last);
  const auto precision = PrecisionRegistry::instance().find(row.precision)({place, optimizer_options(row)});
  precision->convert(*model);
  const at::Tensor batch = at::rand({images, 3, row.image_px, row.image_px}, place),
                   labels = at::zeros({images}, at::TensorOptions(at::kLong).device(place));
  for (int step = 0; step < kSteps; ++step) {
    precision->scale_loss(at::cross_entropy_loss(precision->forward(*model, batch), labels)).backward();
    precision->step(*model);
  }
  device->synchronize();
}

harness::MemoryProbe probe_memory(const harness::Row& row) {
  const int64_t images = harness::images_per_device(row) / row.accumulation;
  bool fits = true;
  try {
    train(row, images);
  } catch (const std::exception& error) {
    if (!tells_of_memory(error.what())) throw;
    fits = false;
  }
  return {images, fits};
}

}  // namespace bench
