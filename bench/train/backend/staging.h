// The way of a GPU's tensor through host memory, for a carrier that can't reach into a GPU.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <memory>

namespace bench {

// Made where the tensor is given away, used where it is carried. A tensor on the CPU is carried as it is. On
// a GPU nothing else may use the tensor in between; both copies have a stream of their own, so that they wait
// for no work but the tensor's.
class Staging {
 public:
  // Notes what the calling thread's current stream has been given so far: the tensor waits for that.
  explicit Staging(const at::Tensor& tensor);
  // The tensor's values in host memory, in which the carrier may write. Waits for the device.
  at::Tensor to_host();
  // What stands there now becomes the tensor's. Returns when it has arrived.
  void to_device() const;

 private:
  at::Tensor tensor_, host_;
  std::shared_ptr<c10::Event> given_;  // shared: calls that are queued must be copyable
};

}  // namespace bench
