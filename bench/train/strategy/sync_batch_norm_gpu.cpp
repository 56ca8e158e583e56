// SyncBN with the GPU kernels of torch.nn.SyncBatchNorm.
#include <ATen/ops/batch_norm_backward_elemt.h>
#include <ATen/ops/batch_norm_backward_reduce.h>
#include <ATen/ops/batch_norm_elemt.h>
#include <ATen/ops/batch_norm_gather_stats_with_counts.h>
#include <ATen/ops/batch_norm_stats.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

#include "bench/train/strategy/sync_batch_norm.h"

namespace bench {
namespace {

// The kernels support NCHW and NHWC.
at::Tensor in_either_order(const at::Tensor& x) { return x.contiguous(x.suggest_memory_format()); }

struct OnGpu : torch::autograd::Function<OnGpu> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& scale, const at::Tensor& shift, const at::Tensor& running_mean,
                            const at::Tensor& running_variance, SyncBatchNorm* all, int64_t layer) {
    const at::Tensor x = in_either_order(input);
    const int64_t channels = x.size(1);
    const auto [mine, my_inverse] = at::batch_norm_stats(x, kBatchNormEpsilon);
    const int64_t count_of_rank = x.numel() / channels;
    const at::Tensor count = at::full({1}, double(count_of_rank), mine.options());
    const at::Tensor parts = at::stack(all->all_of(size_t(layer), at::cat({mine, my_inverse, count})));
    const at::Tensor counts = parts.select(1, 2 * channels);
    const auto [mean, inverse] = at::batch_norm_gather_stats_with_counts(
        x, parts.narrow(1, 0, channels), parts.narrow(1, channels, channels), running_mean, running_variance,
        kBatchNormMomentum, kBatchNormEpsilon, counts.to(running_mean.scalar_type()));
    context->save_for_backward({x, scale, mean, inverse, counts.to(at::kInt)});
    context->saved_data["all"] = reinterpret_cast<int64_t>(all);
    return at::batch_norm_elemt(x, scale, shift, mean, inverse, kBatchNormEpsilon);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &scale = saved[1], &mean = saved[2], &inverse = saved[3];
    const at::Tensor dy = gradients[0].contiguous(x.suggest_memory_format());
    const auto [sum_dy, sum_dy_deviation, dscale, dshift] =
        at::batch_norm_backward_reduce(dy, x, mean, inverse, scale, true, true, true);
    at::Tensor sums = at::cat({sum_dy, sum_dy_deviation});
    reinterpret_cast<SyncBatchNorm*>(context->saved_data["all"].toInt())->sum_backward(sums);
    const int64_t channels = sum_dy.size(0);
    const at::Tensor dx =
        at::batch_norm_backward_elemt(dy, x, mean, inverse, scale, sums.narrow(0, 0, channels),
                                      sums.narrow(0, channels, channels), saved[4]);
    return {dx, dscale, dshift, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor sync_batch_norm_on_gpu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                                  at::Tensor& running_mean, at::Tensor& running_variance, SyncBatchNorm& all,
                                  size_t layer) {
  return OnGpu::apply(x, scale, shift, running_mean, running_variance, &all, int64_t(layer));
}

}  // namespace bench
