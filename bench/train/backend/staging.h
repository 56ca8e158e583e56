// Stages a GPU tensor through host memory, for backends that can't access GPU memory.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <memory>

namespace bench {

// Construct it where the collective is posted, use it in the thread that runs the collective. CPU tensors are
// used directly. A GPU tensor must not be used elsewhere in between; the copies run on a separate stream, so
// that they wait only for the work that produces the tensor.
class Staging {
 public:
  // Records an event on the calling thread's current stream; to_host() waits for it.
  explicit Staging(const at::Tensor& tensor);
  // Copies the tensor to writable host memory; waits for the device.
  at::Tensor to_host();
  // Copies the host memory back to the tensor; returns when the copy is complete.
  void to_device() const;

 private:
  at::Tensor tensor_, host_;
  std::shared_ptr<c10::Event> given_;  // shared: queued calls must be copyable
};

}  // namespace bench
