// A carrier over a backend of the suite, used in the same way as the strategies use it.
#pragma once
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/micro/collectives/carriers.h"

namespace bench {

class C10dCarrier : public Carrier {
 public:
  // posted: asynchronous (asyncOp = true), then wait for the future, as LibTorch's Reducer. Otherwise
  // synchronous, as torch.distributed.all_reduce by default.
  explicit C10dCarrier(c10d::ProcessGroup& group, bool posted = false) : group_(group), posted_(posted) {}
  void run(Operation operation, at::Tensor& tensor) override {
    std::vector<at::Tensor> tensors = {tensor};
    const auto work = post(operation, tensors);
    if (!work) return;
    if (posted_)
      work->getFuture()->waitAndThrow();
    else
      work->wait();
  }

 private:
  c10::intrusive_ptr<c10d::Work> post(Operation operation, std::vector<at::Tensor>& tensors) {
    const int last = group_.getSize() - 1;
    switch (operation) {
      case Operation::all_reduce:
        return group_.allreduce(tensors, options<c10d::AllreduceOptions>());
      case Operation::broadcast:
        return group_.broadcast(tensors, options<c10d::BroadcastOptions>());
      case Operation::reduce:
        return group_.reduce(tensors, options<c10d::ReduceOptions>());
      case Operation::point_to_point:
        if (group_.getRank() == 0) return group_.send(tensors, last, 0);
        if (group_.getRank() == last) return group_.recv(tensors, 0, 0);
    }
    return nullptr;
  }
  template <class Options>
  Options options() const {
    Options made;
    made.asyncOp = posted_;
    return made;
  }
  c10d::ProcessGroup& group_;
  const bool posted_ = false;
};

}  // namespace bench
