#include "bench/train/needless.h"

namespace bench {

void Needless::after_copy(DeviceBatch& data) const {
  if (row_.needless != "copies") return;
  const auto copy = [&](const at::Tensor& from, const at::Device& to) {  // also from a CPU device to its host
    return from.to(from.options().device(to), /*non_blocking=*/false, /*copy=*/true);
  };
  data.images = copy(copy(data.images, at::kCPU), device_.torch_device());
}

void Needless::after_phase() const {
  if (row_.needless == "synchronize") device_.synchronize();
}

void Needless::after_step() const {
  if (row_.needless == "empty_cache") device_.empty_cache();
}

void Needless::keep(const at::Tensor& loss) {
  if (row_.retain_graph) total_ = total_.defined() ? total_.add(loss) : loss;
}

}  // namespace bench
