// Replaces LibTorch's CPU kernels by wrappers that convert to float32 and round the result to bfloat16.
#include "bench/train/precision/in_float32.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/baddbmm_cpu_dispatch.h>
#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/convolution_backward_native.h>
#include <ATen/ops/convolution_native.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <torch/library.h>

#include "harness/base/machine.h"

namespace bench {
namespace {

bool is_sixteen_bit(const at::Tensor& tensor) {
  return tensor.defined() && tensor.scalar_type() == at::kBFloat16;
}
bool is_sixteen_bit(const auto&) { return false; }  // strides, scalars; a bias has the type of its weight

at::Tensor widened(const at::Tensor& tensor) {
  return is_sixteen_bit(tensor) ? tensor.to(at::kFloat) : tensor;
}
std::optional<at::Tensor> widened(const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional(widened(*tensor)) : tensor;
}
const auto& widened(const auto& other) { return other; }

at::Tensor rounded(const at::Tensor& tensor) { return tensor.defined() ? tensor.to(at::kBFloat16) : tensor; }
template <class... Tensors>
std::tuple<Tensors...> rounded(const std::tuple<Tensors...>& results) {
  return std::apply([](const auto&... each) { return std::tuple(rounded(each)...); }, results);
}

// LibTorch's own function `compute` on float32 copies of 16-bit operands.
template <auto compute>
struct Widened;
template <class Result, class... Arguments, Result (*compute)(Arguments...)>
struct Widened<compute> {
  static Result call(Arguments... arguments) {
    if (!(is_sixteen_bit(arguments) || ...)) return compute(arguments...);
    return rounded(compute(widened(arguments)...));
  }
};

// LibTorch warns of each kernel that replaces one.
struct NoWarnings : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

}  // namespace

std::shared_ptr<void> compute_in_float32() {
  const auto kernels = std::make_shared<torch::Library>(torch::Library::IMPL, "aten", c10::DispatchKey::CPU,
                                                        __FILE__, __LINE__);
  NoWarnings no_warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&no_warnings);
  kernels->impl("convolution", Widened<at::native::convolution>::call);
  kernels->impl("convolution_backward", Widened<at::native::convolution_backward>::call);
  kernels->impl("mm", Widened<at::cpu::mm>::call);
  kernels->impl("addmm", Widened<at::cpu::addmm>::call);
  kernels->impl("bmm", Widened<at::cpu::bmm>::call);
  kernels->impl("baddbmm", Widened<at::cpu::baddbmm>::call);
  return kernels;
}

bool computes_in_float32() {
  static const std::shared_ptr<void> kernels = [] {
    const auto has_kernels =
        c10::Dispatcher::singleton().findSchema({"mkldnn::_is_mkldnn_bf16_supported", ""});
    const bool native =
        !base::sixteen_bit_instructions().empty() && has_kernels && has_kernels->typed<bool()>().call();
    return native ? nullptr : compute_in_float32();
  }();
  return kernels != nullptr;
}

}  // namespace bench
