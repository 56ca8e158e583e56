// A communication hook for the Reducer that all-reduces buckets in 16 bits, as PyTorch's fp16_compress_hook
// and bf16_compress_hook. LibTorch's C++ hook supports float16 only.
#pragma once
#include <ATen/ops/_foreach_copy.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>

namespace bench {

class CompressionHook : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
 public:
  CompressionHook(c10::intrusive_ptr<c10d::ProcessGroup> group, at::ScalarType type)
      : CppCommHookInterface(std::move(group)), type_(type) {}

  // Called by the Reducer when a bucket is full. A hook must divide by the number of ranks itself.
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const at::Tensor buffer = bucket.getBuffer();
    std::vector<at::Tensor> message{buffer.to(type_).div_(state_->getSize())};
    return state_->allreduce(message)->getFuture()->then(
        [buffer](c10::ivalue::Future& done) {
          const at::Tensor sum = done.value().toTensorVector().at(0);
          at::Tensor(buffer).copy_(sum);
          return c10::IValue(std::vector<at::Tensor>{buffer});
        },
        c10::ListType::create(c10::TensorType::get()));
  }

 private:
  at::ScalarType type_;
};

}  // namespace bench
