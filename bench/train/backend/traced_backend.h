// A c10d::Backend that forwards every call to another backend and records sizes and durations in Traffic.
#pragma once
#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "bench/train/clock/traffic.h"

namespace bench {

class TracedBackend : public c10d::Backend {
 public:
  // on_device: the backend runs and times collectives on the GPU (NCCL with enableCollectivesTiming).
  TracedBackend(c10::intrusive_ptr<c10d::Backend> inner, std::shared_ptr<Traffic> traffic, bool on_device);
  const std::string getBackendName() const override { return inner_->getBackendName(); }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions& options) override;
  // Not recorded, because these carry no training data.
  c10::intrusive_ptr<c10d::Work> gather(std::vector<std::vector<at::Tensor>>& outputs,
                                        std::vector<at::Tensor>& inputs,
                                        const c10d::GatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> reduce(std::vector<at::Tensor>& tensors,
                                        const c10d::ReduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int to, int tag) override;
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int from, int tag) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override;

 private:
  // With asyncOp = false NCCL's backend returns no Work, which is needed here for timing.
  template <class Options>
  Options posted(Options options) const {
    options.asyncOp = options.asyncOp || on_device_;
    return options;
  }
  c10::intrusive_ptr<c10d::Work> until_done(Traffic::Ticket ticket, c10::intrusive_ptr<c10d::Work> work);
  c10::intrusive_ptr<c10d::Backend> inner_;
  std::shared_ptr<Traffic> traffic_;  // shared: a late callback may outlive this backend
  const bool on_device_;
};

}  // namespace bench
