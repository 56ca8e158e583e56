// torch.nn.DataParallel's semantics in one process. Each batch is scattered over the replicas, the first
// one's weights and buffers are broadcast to the others, forward and backward run in a thread per replica,
// logits are gathered on the first device and gradients reduced to the first replica. That is the model
// itself, so only its running statistics (of its share of the batch) are kept, as in PyTorch.
#pragma once
#include <memory>
#include <vector>

#include "bench/train/strategy/replica.h"
#include "bench/train/strategy/strategy.h"
#include "bench/train/strategy/worker_thread.h"

namespace bench {

class DataParallel : public Strategy {
 public:
  // stages: 1, or 2: each replica is divided between two devices. With R replicas, stage s of replica r is on
  // device s * R + r.
  DataParallel(const StrategyContext& context, int64_t stages);

  at::Tensor forward(const at::Tensor& images, PhaseClock& clock) override;
  void backward(const at::Tensor& loss, PhaseClock& clock) override;
  void use_batch_statistics(bool on) override;
  std::vector<std::vector<PhaseClock::Interval>> device_intervals() const override;

 private:
  at::Device place_of(int64_t device) const {
    return accelerator_ ? accelerator_->of_replica(device) : device_;
  }
  void scatter(const at::Tensor& images);
  void on_every_replica(const std::function<void(size_t)>& compute);

  const at::Device device_;
  const Accelerator* const accelerator_;        // null: all replicas are on device_
  std::vector<std::unique_ptr<Model>> copies_;  // of the model, for all replicas but the first
  std::vector<Model*> models_;                  // by replica
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<std::unique_ptr<WorkerThread>> workers_;  // for all replicas but the first
  std::unique_ptr<ReplicaExchange> exchange_;
  std::vector<at::Tensor> inputs_, outputs_;  // by replica
  std::vector<int64_t> first_image_;
  at::Tensor logits_;
};

}  // namespace bench
