// A c10d::Backend that forwards every call to another backend and records sizes and durations in Traffic.
#pragma once
#include <atomic>
#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "bench/train/clock/traffic.h"

namespace bench {

class TracedBackend : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;
  // on_device: the backend runs and times collectives on the GPU (NCCL with enableCollectivesTiming).
  TracedBackend(c10::intrusive_ptr<c10d::Backend> inner, std::shared_ptr<Traffic> traffic, bool on_device);
  const std::string getBackendName() const override { return inner_->getBackendName(); }
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  Work broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  Work allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::AllgatherOptions& options) override;
  // Not recorded, because these carry no training data.
  Work gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  Work reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  Work send(Tensors& tensors, int to, int tag) override;
  Work recv(Tensors& tensors, int from, int tag) override;
  Work barrier(const c10d::BarrierOptions& options) override;
  // As Group::mute_collectives(); nothing is recorded then.
  void mute(bool on) { muted_ = on; }

 private:
  // With asyncOp = false NCCL's backend returns no Work, which is needed here for timing.
  template <class Options>
  Options posted(Options options) const {
    options.asyncOp = options.asyncOp || on_device_;
    return options;
  }
  Traffic::Ticket begin(Collective kind, const Traffic::Message& message);
  Work until_done(Traffic::Ticket ticket, Work work);
  c10::intrusive_ptr<c10d::Backend> inner_;
  std::shared_ptr<Traffic> traffic_;  // shared: a late callback may outlive this backend
  const bool on_device_;
  std::atomic<bool> muted_ = false;  // on GPUs backward posts from a thread of the autograd engine
};

}  // namespace bench
