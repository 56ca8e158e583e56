// The c10d::ProcessGroup interface of a backend, for strategies and LibTorch's Reducer.
#pragma once
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/train/backend/traced_backend.h"

namespace bench {

// Calls the backend directly. LibTorch's ProcessGroup goes through the operator dispatcher (needed only for
// tracing compilers), which costs a microsecond per call.
class DirectProcessGroup : public c10d::ProcessGroup {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;
  DirectProcessGroup(const c10::intrusive_ptr<c10d::Store>& store, c10::intrusive_ptr<c10d::Backend> backend)
      : ProcessGroup(store, backend->getRank(), backend->getSize()), backend_(std::move(backend)) {
    for (const at::DeviceType device : {at::kCPU, at::kCUDA, at::kPrivateUse1})
      setBackend(device, BackendType::CUSTOM, backend_);
    setDefaultBackend(BackendType::CUSTOM);
  }
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    return backend_->allreduce(tensors, options);
  }
  Work broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    return backend_->broadcast(tensors, options);
  }
  Work reduce(Tensors& tensors, const c10d::ReduceOptions& options) override {
    return backend_->reduce(tensors, options);
  }
  Work allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::AllgatherOptions& options) override {
    return backend_->allgather(outputs, inputs, options);
  }
  Work gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override {
    return backend_->gather(outputs, inputs, options);
  }
  Work send(Tensors& tensors, int to, int tag) override { return backend_->send(tensors, to, tag); }
  Work recv(Tensors& tensors, int from, int tag) override { return backend_->recv(tensors, from, tag); }
  Work barrier(const c10d::BarrierOptions& options) override { return backend_->barrier(options); }

 private:
  c10::intrusive_ptr<c10d::Backend> backend_;
};

// Options for a call that is waited for immediately (asyncOp = false); MpiBackend then needs no thread
// switch.
template <class Options>
Options at_once() {
  Options options;
  options.asyncOp = false;
  return options;
}

}  // namespace bench
