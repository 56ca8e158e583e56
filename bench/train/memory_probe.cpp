// Trains three steps on a device's share of the batch, and reports whether memory ran out.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <new>

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

// All private memory of the process counts: the heap, LibTorch's tensors and the stacks of threads.
static void limit_memory_of_process(int64_t bytes) {
  const struct rlimit limit { rlim_t(bytes), rlim_t(bytes) };
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    throw std::runtime_error(
        fmt::format("memory can't be limited to {} bytes: {}", bytes, std::strerror(errno)));
}

static void train(const harness::Row& row, const harness::Emulation* emulation, int64_t images) {
  constexpr int kSteps = 3;  // the first allocates momenta, master weights and cuDNN's workspaces
  const auto device =
      DeviceRegistry::instance().find(row.device)({.row = row, .batch_size = images, .emulation = emulation});
  const at::Device place = device->torch_device();
  const auto model = make_model(row);
  model->to(place, row.channels_last);
  const auto precision = PrecisionRegistry::instance().find(row.precision)({place, row});
  precision->convert(*model);
  if (device->accelerator()) device->accelerator()->prepare(*model);
  const at::Tensor batch = at::rand({images, 3, row.image_px, row.image_px}, place),
                   labels = at::zeros({images}, at::TensorOptions(at::kLong).device(place));
  for (int step = 0; step < kSteps; ++step) {
    precision->scale_loss(at::cross_entropy_loss(precision->forward(*model, batch), labels)).backward();
    precision->step(*model);
  }
  device->synchronize();
}

harness::MemoryProbe probe_memory(const harness::Job& job) {
  const harness::Row& row = job.row;
  const int64_t images = harness::images_per_device(row) / row.accumulation;
  bool fits = true;
  try {
    if (job.memory_cap_bytes) limit_memory_of_process(*job.memory_cap_bytes);
    train(row, job.emulation ? &*job.emulation : nullptr, images);
  } catch (const std::bad_alloc&) {
    fits = false;
  } catch (const std::exception& error) {
    if (!tells_of_memory(error.what())) throw;
    fits = false;
  }
  return {images, fits};
}

}  // namespace bench
