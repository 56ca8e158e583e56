// Inserts extra copies, allocations, synchronisations or cache flushes where the row asks for them.
#include "bench/train/needless_work.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>

#include <cstring>

namespace bench {

void NeedlessWork::before_copy(const Batch& host) const {
  if (row_.needless != "host_copy") return;
  const auto bytes = int64_t(double(host.size) * harness::decoded_image_bytes(row_));
  at::Tensor copy = at::empty({bytes}, at::kByte);
  std::memcpy(copy.data_ptr(), host.images, size_t(bytes));
}

void NeedlessWork::after_copy(DeviceBatch& data) const {
  if (row_.needless == "host_tensor") at::rand(data.images.sizes()).to(device_.torch_device());
  if (row_.needless == "device_tensor")
    at::rand(data.images.sizes(), at::TensorOptions().device(device_.torch_device()));
  if (row_.needless != "copies") return;
  const auto copy = [&](const at::Tensor& from, const at::Device& to) {  // also from a CPU device to its host
    return from.to(from.options().device(to), /*non_blocking=*/false, /*copy=*/true);
  };
  data.images = copy(copy(data.images, at::kCPU), device_.torch_device());
}

void NeedlessWork::after_phase() const {
  if (row_.needless == "synchronize") device_.synchronize();
}

void NeedlessWork::after_step() const {
  if (row_.needless == "empty_cache") device_.empty_cache();
}

void NeedlessWork::keep(const at::Tensor& loss) {
  if (row_.retain_graph) total_ = total_.defined() ? total_.add(loss) : loss;
}

}  // namespace bench
