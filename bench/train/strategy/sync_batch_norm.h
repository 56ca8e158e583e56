// SyncBN: batch normalisation over the batches of all ranks, as apex.parallel.SyncBatchNorm and
// torch.nn.SyncBatchNorm. forward() all-gathers mean, squared deviations and count of every rank; backward
// all-reduces the two sums that the gradient of x needs. The gradients of scale and shift stay local; the
// strategy averages them.
#pragma once
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "bench/train/clock/spans.h"
#include "bench/train/model/model.h"

namespace bench {

class SyncBatchNorm : public BatchNorm {
 public:
  // Registers spans for the time in collectives: sync_bn/<layer> per layer in forward, sync_bn_backward for
  // all layers in backward. `group` (not owned) and `spans` must outlive this object.
  SyncBatchNorm(c10d::ProcessGroup* group, const std::vector<std::string>& layers, Spans& spans);

  // x: N x C x H x W, float32 or a 16-bit type; N, H and W may differ between ranks. The result has x's type
  // and, on a GPU, its memory format. Collective.
  at::Tensor forward(size_t layer, const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                     at::Tensor& running_mean, at::Tensor& running_variance) override;

  // All-gathers `mine` for a layer; returns one tensor per rank, in rank order. Waits for the other ranks; on
  // a GPU only the current stream waits, so the layer's span is the launch time. On an emulated device the
  // span is how long that stream waits.
  std::vector<at::Tensor> all_of(size_t layer, const at::Tensor& mine) override;
  // CPU only: merges this rank's statistics with those of all ranks (Chan, Golub & LeVeque 1979). 2 C + 1
  // doubles: means, sums of squared deviations, count. Waits for the other ranks.
  at::Tensor gather(size_t layer, const at::Tensor& mine);
  // All-reduces `sums` in place. Waits as all_of().
  void sum_backward(at::Tensor& sums) override;

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  Spans& spans_;
  std::vector<size_t> forward_spans_;
  size_t backward_span_;
};

// As SyncBatchNorm::forward(), CUDA only: uses the kernels of torch.nn.SyncBatchNorm in the same order.
// All-gathers mean, inverse standard deviation and count of every rank.
at::Tensor sync_batch_norm_on_gpu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                                  at::Tensor& running_mean, at::Tensor& running_variance, SyncBatchNorm& all,
                                  size_t layer);

}  // namespace bench
