// A copy of the network with its share of each batch, on one device or divided between two. data_parallel and
// split_model compute with them.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

#include "bench/train/clock/phase_clock.h"
#include "bench/train/strategy/strategy.h"

namespace bench {

// Called from one thread, which has entered the replica's first device.
class Replica {
 public:
  virtual ~Replica() = default;
  // images: N x 3 x H x W on the first device. Returns the logits, N x classes, on the last device, without
  // autograd graph: that is kept for backward().
  virtual at::Tensor forward(const at::Tensor& images) = 0;
  // gradient: of those logits, on their device. Adds to the gradients of the model's parameters.
  virtual void backward(const at::Tensor& gradient) = 0;
  // When each device worked on the last batch, by the host's clock: [stage][piece of work].
  using Intervals = std::vector<std::vector<PhaseClock::Interval>>;
  const Intervals& intervals() const { return intervals_; }

 protected:
  explicit Replica(size_t stages) : intervals_(stages) {}
  void forget_intervals();
  void work(size_t stage, Phase phase, const std::function<void()>& compute);

 private:
  Intervals intervals_;
};

// The model (not owned) is on one device.
std::unique_ptr<Replica> make_whole_replica(const StrategyContext& context, Model& model);

// Moves the second half of the model's units to `second` (replica `number` of the accelerator, if there is
// one). The batch passes both stages in row.pipeline_micro_batches parts: while the second stage computes
// with one part the first one computes with the next, first all forward, then all backward (GPipe, Huang et
// al. 2018, arXiv 1811.06965; torch.distributed.pipelining.ScheduleGPipe). Batch norm takes its statistics
// from each part, as there. The second stage has a thread of its own.
std::unique_ptr<Replica> make_split_replica(const StrategyContext& context, Model& model, at::Device second,
                                            int64_t number);

}  // namespace bench
