// Defines the operators and their gradients.
#include "bench/train/model/fused_layers.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace bench {
namespace {

using Optional = std::optional<at::Tensor>;
using Tensors4 = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

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

// Functions of these types, one for each kind of device, compute the operators.
using BatchNormReluKernel = Tensors4(const at::Tensor& x, const Optional& addend, const at::Tensor& scale,
                                     const at::Tensor& shift, at::Tensor& running_mean,
                                     at::Tensor& running_variance);
using BatchNormReluBackwardKernel = Tensors4(const at::Tensor& dy, const at::Tensor& x,
                                             const at::Tensor& mask, const at::Tensor& scale,
                                             const at::Tensor& mean, const at::Tensor& inverse,
                                             bool has_addend);
using MaxPoolKernel = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& x);
using MaxPoolBackwardKernel = at::Tensor(const at::Tensor& dy, const at::Tensor& place, int64_t height,
                                         int64_t width);

template <class Kernel>
auto operation(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Kernel>();
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct BatchNormRelu : torch::autograd::Function<BatchNormRelu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const Optional& addend,
                            const at::Tensor& scale, const at::Tensor& shift, at::Tensor running_mean,
                            at::Tensor running_variance) {
    static const auto compute = operation<BatchNormReluKernel>("bench::batch_norm_relu");
    const auto [y, mask, mean, inverse] =
        compute.call(x, addend, scale, shift, running_mean, running_variance);
    context->save_for_backward({x, mask, scale, mean, inverse});
    context->saved_data["has_addend"] = addend.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    static const auto compute = operation<BatchNormReluBackwardKernel>("bench::batch_norm_relu_backward");
    const auto saved = context->get_saved_variables();
    const bool has_addend = context->saved_data["has_addend"].toBool();
    const auto [dx, daddend, dscale, dshift] =
        compute.call(gradients[0], saved[0], saved[1], saved[2], saved[3], saved[4], has_addend);
    return {dx, has_addend ? daddend : at::Tensor(), dscale, dshift, at::Tensor(), at::Tensor()};
  }
};

struct MaxPool : torch::autograd::Function<MaxPool> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    static const auto compute = operation<MaxPoolKernel>("bench::max_pool_3x3");
    const auto [y, place] = compute.call(x);
    context->save_for_backward({place});
    context->saved_data["height"] = x.size(2);
    context->saved_data["width"] = x.size(3);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    static const auto compute = operation<MaxPoolBackwardKernel>("bench::max_pool_3x3_backward");
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
