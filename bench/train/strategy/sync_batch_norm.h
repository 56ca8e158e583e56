// SyncBN: batch normalisation with the statistics of all ranks' batches together, as
// apex.parallel.SyncBatchNorm and torch.nn.SyncBatchNorm do it: in forward every rank gathers the mean,
// squared deviations and count of all; in backward the two sums that the gradient of x needs are all-reduced.
// The gradients of scale and shift stay each rank's own: the strategy averages them with all others.
#pragma once
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "bench/train/clock/spans.h"
#include "bench/train/model/resnet.h"

namespace bench {

class SyncBatchNorm : public BatchNorm {
 public:
  // Registers spans: what each layer waits for the others in forward, as sync_bn/<layer>, and what all layers
  // together wait in backward, as sync_bn_backward.
  SyncBatchNorm(c10d::ProcessGroup* group, const std::vector<std::string>& layers, Spans& spans);

  // x: N x C x H x W, float32 or 16 bits; N, H and W may differ between ranks. Returns x's type and, on a
  // GPU, its order in memory.
  at::Tensor forward(size_t layer, const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                     at::Tensor& running_mean, at::Tensor& running_variance) override;

  // What each rank has given for that layer, by rank. Waits for the other ranks; on a GPU the current stream
  // does, and the layer's span is what starting it took.
  std::vector<at::Tensor> all_of(size_t layer, const at::Tensor& mine);
  // On the CPU: statistics of all ranks together, from this rank's: 2 C + 1 doubles, sums of squared
  // deviations after the means, the count last. Waits for the other ranks.
  at::Tensor gather(size_t layer, const at::Tensor& mine);
  // Sums over ranks in place. Waits as all_of() does.
  void sum_backward(at::Tensor& sums);

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  Spans& spans_;
  std::vector<size_t> forward_spans_;
  size_t backward_span_;
};

}  // namespace bench
