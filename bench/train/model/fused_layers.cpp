// Defines the operators and their gradients, and their CPU versions made of LibTorch's separate operations.
#include "bench/train/model/fused_layers.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "bench/train/model/model.h"

namespace bench {
namespace {

using Optional = std::optional<at::Tensor>;
using Tensors4 = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// --- On the CPU. `clipped` and `window` have other layouts than on GPUs; only backward reads them.

Tensors4 batch_norm_relu_on_cpu(const at::Tensor& x, const Optional& addend, const at::Tensor& scale,
                                const at::Tensor& shift, at::Tensor& running_mean,
                                at::Tensor& running_variance) {
  auto [y, mean, inverse] = at::native_batch_norm(x, scale, shift, running_mean, running_variance, true,
                                                  kBatchNormMomentum, kBatchNormEpsilon);
  if (addend) y += *addend;
  const at::Tensor clipped = y.le(0);
  y.masked_fill_(clipped, 0);
  return {y, clipped, mean, inverse};
}

Tensors4 batch_norm_relu_backward_on_cpu(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& clipped,
                                         const at::Tensor& scale, const at::Tensor& mean,
                                         const at::Tensor& inverse, bool) {
  const at::Tensor passed = dy.masked_fill(clipped, 0);
  auto [dx, dscale, dshift] = at::native_batch_norm_backward(passed, x, scale, {}, {}, mean, inverse, true,
                                                             kBatchNormEpsilon, {true, true, true});
  return {dx, passed, dscale, dshift};
}

std::tuple<at::Tensor, at::Tensor> max_pool_on_cpu(const at::Tensor& x) {
  auto [y, index] = at::max_pool2d_with_indices(x, {3, 3}, {2, 2}, {1, 1});
  return {y, index};
}

at::Tensor max_pool_backward_on_cpu(const at::Tensor& dy, const at::Tensor& index, int64_t height,
                                    int64_t width) {
  const at::Tensor like_x =
      at::empty({dy.size(0), dy.size(1), height, width}, dy.options(), dy.suggest_memory_format());
  return at::max_pool2d_with_indices_backward(dy, like_x, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false, index);
}

TORCH_LIBRARY(bench, library) {
  library.def(
      "batch_norm_relu(Tensor x, Tensor? addend, Tensor scale, Tensor shift, Tensor(a!) running_mean, "
      "Tensor(b!) running_variance) -> (Tensor y, Tensor mask, Tensor mean, Tensor inverse_deviation)");
  library.def(
      "batch_norm_relu_backward(Tensor dy, Tensor x, Tensor mask, Tensor scale, Tensor mean, "
      "Tensor inverse_deviation, bool has_addend) -> (Tensor dx, Tensor daddend, Tensor dscale, Tensor "
      "dshift)");
  library.def("max_pool_3x3(Tensor x) -> (Tensor y, Tensor place)");
  library.def("max_pool_3x3_backward(Tensor dy, Tensor place, int height, int width) -> Tensor dx");
}

TORCH_LIBRARY_IMPL(bench, CPU, library) {
  library.impl("batch_norm_relu", batch_norm_relu_on_cpu);
  library.impl("batch_norm_relu_backward", batch_norm_relu_backward_on_cpu);
  library.impl("max_pool_3x3", max_pool_on_cpu);
  library.impl("max_pool_3x3_backward", max_pool_backward_on_cpu);
}

// --- On all devices.

// The operator with the signature of the CPU's function.
template <class Function>
auto operation(const char* name, Function*) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Function>();
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct BatchNormRelu : torch::autograd::Function<BatchNormRelu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const Optional& addend,
                            const at::Tensor& scale, const at::Tensor& shift, at::Tensor running_mean,
                            at::Tensor running_variance) {
    static const auto compute = operation("bench::batch_norm_relu", batch_norm_relu_on_cpu);
    const auto [y, mask, mean, inverse] =
        compute.call(x, addend, scale, shift, running_mean, running_variance);
    context->save_for_backward({x, mask, scale, mean, inverse});
    context->saved_data["has_addend"] = addend.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    static const auto compute = operation("bench::batch_norm_relu_backward", batch_norm_relu_backward_on_cpu);
    const auto saved = context->get_saved_variables();
    const bool has_addend = context->saved_data["has_addend"].toBool();
    const auto [dx, daddend, dscale, dshift] =
        compute.call(gradients[0], saved[0], saved[1], saved[2], saved[3], saved[4], has_addend);
    return {dx, has_addend ? daddend : at::Tensor(), dscale, dshift, at::Tensor(), at::Tensor()};
  }
};

struct MaxPool : torch::autograd::Function<MaxPool> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    static const auto compute = operation("bench::max_pool_3x3", max_pool_on_cpu);
    const auto [y, place] = compute.call(x);
    context->save_for_backward({place});
    context->saved_data["height"] = x.size(2);
    context->saved_data["width"] = x.size(3);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    static const auto compute = operation("bench::max_pool_3x3_backward", max_pool_backward_on_cpu);
    return {compute.call(gradients[0], context->get_saved_variables()[0],
                         context->saved_data["height"].toInt(), context->saved_data["width"].toInt())};
  }
};

}  // namespace

at::Tensor batch_norm_relu(const at::Tensor& x, const at::Tensor& addend, const at::Tensor& scale,
                           const at::Tensor& shift, at::Tensor& running_mean, at::Tensor& running_variance) {
  return BatchNormRelu::apply(x, addend.defined() ? Optional(addend.to(x.scalar_type())) : Optional(), scale,
                              shift, running_mean, running_variance);
}

at::Tensor max_pool_3x3(const at::Tensor& x) { return MaxPool::apply(x); }

}  // namespace bench
