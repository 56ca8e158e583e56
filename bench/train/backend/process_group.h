// The c10d::ProcessGroup interface of a backend, for strategies and LibTorch's Reducer.
#pragma once
#include <atomic>
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/train/clock/traffic.h"

namespace bench {

// Calls the backend, and records sizes and durations in Traffic. LibTorch's ProcessGroup goes through the
// operator dispatcher (needed only for tracing compilers), which costs a microsecond per call.
class TracedProcessGroup : public c10d::ProcessGroup {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;
  // on_device: the backend runs and times collectives on the GPU (NCCL with enableCollectivesTiming).
  TracedProcessGroup(const c10::intrusive_ptr<c10d::Store>& store, c10::intrusive_ptr<c10d::Backend> backend,
                     std::shared_ptr<Traffic> traffic, bool on_device);
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  Work broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  Work allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::AllgatherOptions& options) override;
  // Not recorded, because these carry no training data.
  Work gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override {
    return backend_->gather(outputs, inputs, posted(options));
  }
  Work reduce(Tensors& tensors, const c10d::ReduceOptions& options) override {
    return backend_->reduce(tensors, posted(options));
  }
  Work send(Tensors& tensors, int to, int tag) override { return backend_->send(tensors, to, tag); }
  Work recv(Tensors& tensors, int from, int tag) override { return backend_->recv(tensors, from, tag); }
  Work barrier(const c10d::BarrierOptions& options) override { return backend_->barrier(posted(options)); }
  // As Group::mute_collectives(); nothing is recorded then.
  void mute(bool on) { muted_ = on; }

 private:
  // With asyncOp = false NCCL's backend returns no Work, which is needed here for timing.
  template <class Options>
  Options posted(Options options) const {
    options.asyncOp = options.asyncOp || on_device_;
    return options;
  }
  Traffic::Ticket begin(Collective kind, const Tensors& tensors);
  Work until_done(Traffic::Ticket ticket, Work work);

  c10::intrusive_ptr<c10d::Backend> backend_;
  std::shared_ptr<Traffic> traffic_;  // shared: a late callback may outlive this group
  const bool on_device_;
  std::atomic<bool> muted_ = false;  // on GPUs backward posts from a thread of the autograd engine
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
