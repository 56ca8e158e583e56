// The operators of bench/train/model/fused_layers.h on GPUs.
#include "bench/train/cuda/fused_layers.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "bench/train/model/model.h"

namespace bench {
namespace {

using Optional = std::optional<at::Tensor>;
using Tensors4 = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

at::Tensor in_nhwc(const at::Tensor& x) {
  TORCH_CHECK(x.dim() == 4 && x.size(1) % fused::kGroup == 0,
              "fused layers: activations are N x C x H x W with C a multiple of ", fused::kGroup, ", not ",
              x.sizes());
  return x.contiguous(at::MemoryFormat::ChannelsLast);
}

fused::Size size_of(const at::Tensor& x) { return {x.numel() / x.size(1), int(x.size(1))}; }

// Calls work(zero of the tensors' type).
template <class Work>
void for_type(at::ScalarType type, const Work& work) {
  switch (type) {
    case at::kFloat:
      return work(float());
    case at::kHalf:
      return work(c10::Half());
    case at::kBFloat16:
      return work(c10::BFloat16());
    default:
      TORCH_CHECK(false, "fused layers: activations are float32, float16 or bfloat16, not ", type);
  }
}

at::Tensor bytes(int64_t count, const at::Tensor& like) {
  return at::empty({count}, like.options().dtype(at::kByte));
}

fused::Channels channels_of(const at::Tensor& mean, const at::Tensor& inverse, const at::Tensor& scale,
                            const at::Tensor& shift) {
  return {mean.const_data_ptr<float>(), inverse.const_data_ptr<float>(), scale.const_data_ptr<float>(),
          shift.defined() ? shift.const_data_ptr<float>() : nullptr};
}

Tensors4 batch_norm_relu(const at::Tensor& input, const Optional& addend, const at::Tensor& scale,
                         const at::Tensor& shift, at::Tensor& running_mean, at::Tensor& running_variance) {
  const c10::cuda::CUDAGuard on(input.get_device());
  const at::Tensor x = in_nhwc(input), added = addend ? in_nhwc(*addend) : at::Tensor();
  const at::Tensor factor = scale.to(at::kFloat), offset = shift.to(at::kFloat);
  const at::Tensor mean = at::empty_like(factor), inverse = at::empty_like(factor);
  const at::Tensor workspace = at::empty({fused::statistics_workspace(size_of(x))}, factor.options());
  at::Tensor y = at::empty_like(x), positive = bytes(x.numel() / fused::kGroup, x);
  const fused::RunningStatistics running{running_mean.mutable_data_ptr<float>(),
                                         running_variance.mutable_data_ptr<float>(),
                                         float(kBatchNormMomentum), float(kBatchNormEpsilon)};
  for_type(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    fused::statistics<T>(x.const_data_ptr<T>(), mean.mutable_data_ptr<float>(),
                         inverse.mutable_data_ptr<float>(), float(kBatchNormEpsilon),
                         workspace.mutable_data_ptr<float>(), size_of(x), c10::cuda::getCurrentCUDAStream());
    fused::forward<T>(x.const_data_ptr<T>(), added.defined() ? added.const_data_ptr<T>() : nullptr,
                      y.mutable_data_ptr<T>(), positive.mutable_data_ptr<uint8_t>(),
                      channels_of(mean, inverse, factor, offset), running, size_of(x),
                      c10::cuda::getCurrentCUDAStream());
  });
  return {y, positive, mean, inverse};
}

Tensors4 batch_norm_relu_backward(const at::Tensor& gradient, const at::Tensor& input,
                                  const at::Tensor& positive, const at::Tensor& scale, const at::Tensor& mean,
                                  const at::Tensor& inverse, bool has_addend) {
  const c10::cuda::CUDAGuard on(input.get_device());
  const at::Tensor dy = in_nhwc(gradient), x = in_nhwc(input), factor = scale.to(at::kFloat);
  at::Tensor dx = at::empty_like(x), daddend = has_addend ? at::empty_like(x) : at::Tensor();
  at::Tensor dscale = at::empty_like(factor), dshift = at::empty_like(factor);
  at::Tensor workspace = at::empty({fused::backward_workspace(size_of(x))}, factor.options());
  for_type(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    fused::backward<T>(dy.const_data_ptr<T>(), x.const_data_ptr<T>(), positive.const_data_ptr<uint8_t>(),
                       channels_of(mean, inverse, factor, {}), dx.mutable_data_ptr<T>(),
                       has_addend ? daddend.mutable_data_ptr<T>() : nullptr, dscale.mutable_data_ptr<float>(),
                       dshift.mutable_data_ptr<float>(), workspace.mutable_data_ptr<float>(), size_of(x),
                       c10::cuda::getCurrentCUDAStream());
  });
  return {dx, daddend, dscale.to(scale.scalar_type()), dshift.to(scale.scalar_type())};
}

fused::PoolShape pool_shape(const at::Tensor& small, int64_t height, int64_t width) {
  return {int(small.size(0)), int(height), int(width), int((height + 1) / 2), int((width + 1) / 2)};
}

std::tuple<at::Tensor, at::Tensor> max_pool(const at::Tensor& input) {
  const c10::cuda::CUDAGuard on(input.get_device());
  const at::Tensor x = in_nhwc(input);
  const fused::PoolShape shape = pool_shape(x, x.size(2), x.size(3));
  at::Tensor y = at::empty({x.size(0), x.size(1), shape.out_height, shape.out_width}, x.options(),
                           at::MemoryFormat::ChannelsLast);
  at::Tensor place = bytes(y.numel(), x);
  for_type(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    fused::pool_forward<T>(x.const_data_ptr<T>(), y.mutable_data_ptr<T>(), place.mutable_data_ptr<uint8_t>(),
                           shape, int(x.size(1)), c10::cuda::getCurrentCUDAStream());
  });
  return {y, place};
}

at::Tensor max_pool_backward(const at::Tensor& gradient, const at::Tensor& place, int64_t height,
                             int64_t width) {
  const c10::cuda::CUDAGuard on(gradient.get_device());
  const at::Tensor dy = in_nhwc(gradient);
  at::Tensor dx =
      at::empty({dy.size(0), dy.size(1), height, width}, dy.options(), at::MemoryFormat::ChannelsLast);
  for_type(dy.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    fused::pool_backward<T>(dy.const_data_ptr<T>(), place.const_data_ptr<uint8_t>(), dx.mutable_data_ptr<T>(),
                            pool_shape(dy, height, width), int(dy.size(1)),
                            c10::cuda::getCurrentCUDAStream());
  });
  return dx;
}

TORCH_LIBRARY_IMPL(bench, CUDA, library) {
  library.impl("batch_norm_relu", batch_norm_relu);
  library.impl("batch_norm_relu_backward", batch_norm_relu_backward);
  library.impl("max_pool_3x3", max_pool);
  library.impl("max_pool_3x3_backward", max_pool_backward);
}

}  // namespace
}  // namespace bench
