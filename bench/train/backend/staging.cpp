// Copies a tensor to pinned host memory and back in a separate stream that waits for the tensor's values.
#include "bench/train/backend/staging.h"

#include <ATen/ops/empty.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace bench {

using c10::impl::VirtualGuardImpl;

static c10::Stream copying_stream(const at::Device& device) {
  return VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

Staging::Staging(const at::Tensor& tensor) : tensor_(tensor) {
  if (tensor.is_cpu()) return;
  given_ = std::make_shared<c10::Event>(tensor.device().type());
  given_->record(VirtualGuardImpl(tensor.device().type()).getStream(tensor.device()));
}

at::Tensor Staging::to_host() {
  if (tensor_.is_cpu()) return tensor_;
  host_ = at::empty(tensor_.sizes(), tensor_.options().device(at::kCPU).pinned_memory(true));
  const c10::Stream stream = copying_stream(tensor_.device());
  const c10::StreamGuard guard(stream);
  given_->block(stream);
  host_.copy_(tensor_);  // synchronous
  return host_;
}

void Staging::to_device() const {
  if (tensor_.is_cpu()) return;
  const c10::StreamGuard guard(copying_stream(tensor_.device()));
  tensor_.copy_(host_);
}

}  // namespace bench
