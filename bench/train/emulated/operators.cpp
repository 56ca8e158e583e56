// The operators of emulated devices: kernels are durations. Operators that nothing is registered for run on
// the CPU (the loss, top-k: a few per step).
#include <ATen/EmptyTensor.h>
#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/ScopeExit.h>
#include <torch/library.h>

#include "bench/train/emulated/machine.h"
#include "bench/train/emulated/memory.h"

namespace bench::emulated {

at::Tensor on_cpu(const at::Tensor& tensor) {
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                       tensor.options().device(at::kCPU));
}

namespace {

thread_local bool in_fallback = false;  // copies then move real bytes

// On the CPU. One that throws must not leave the mark behind: later copies would cost no time.
void compute_really(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  in_fallback = true;
  const auto mark = c10::make_scope_exit([] { in_fallback = false; });
  at::native::cpu_fallback(op, stack);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_strided_generic(sizes, strides, &memory(),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           type.value_or(at::kFloat));
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_generic(sizes, &memory(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   type.value_or(at::kFloat), format);
}

at::Tensor strided_view(const at::Tensor& self, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                        std::optional<int64_t> offset) {
  auto view = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(self.storage()),
                                                       self.key_set(), self.dtype());
  view.unsafeGetTensorImpl()->set_storage_offset(offset.value_or(self.storage_offset()));
  view.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return view;
}

at::Tensor view(const at::Tensor& self, c10::IntArrayRef asked) {
  const c10::DimVector sizes = at::infer_size_dv(asked, self.numel());
  const auto strides = at::detail::computeStride(self.sizes(), self.strides(), sizes);
  TORCH_CHECK(strides.has_value(), "view: the tensor's memory doesn't allow these sizes; use reshape");
  return strided_view(self, sizes, *strides, self.storage_offset());
}

const at::Tensor& resize(const at::Tensor& self, c10::IntArrayRef sizes, std::optional<at::MemoryFormat>) {
  const size_t needed = size_t(c10::multiply_integers(sizes)) * self.element_size();
  c10::StorageImpl* storage = self.storage().unsafeGetStorageImpl();
  if (storage->nbytes() < needed) {
    storage->set_data_ptr_noswap(memory().allocate(needed));
    storage->set_nbytes(needed);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return self;
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& target, bool non_blocking) {
  if (in_fallback) {
    on_cpu(target).copy_(on_cpu(self));
    return target;
  }
  Machine& all = machine();
  const double bytes = double(self.nbytes());
  if (has_values(self)) on_cpu(target).copy_(on_cpu(self));
  if (target.is_cpu() || self.is_cpu()) {
    launch(target.is_cpu() ? all.durations.device_to_host(bytes)
                           : all.durations.host_to_device(bytes, non_blocking));
    if (!non_blocking)
      all.timelines.wait(current_device(), all.timelines.tail(current_device(), current_stream()));
  } else if (self.device() != target.device()) {
    const int from = self.device().index(), to = target.device().index();
    all.timelines.copy(from, stream_of(from), to, stream_of(to), all.durations.images_between_devices(bytes));
  } else {
    launch(all.durations.element_wise(2 * bytes));
  }
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& target) {
  if (target.numel() != self.numel()) target.resize_(self.sizes());
  return copy_from(self, target, false);
}

at::Tensor& zero(at::Tensor& self) {
  launch(machine().durations.element_wise(double(self.nbytes())));
  if (has_values(self)) on_cpu(self).zero_();
  return self;
}

// Operators that change their first argument in place: the bytes of all their tensors are read or written
// once.
void time_only(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t arguments = op.schema().arguments().size();
  double bytes = 0;
  bool values = false;  // the first tensor has values: compute it really
  const auto add = [&](const at::Tensor& tensor) { bytes += tensor.defined() ? double(tensor.nbytes()) : 0; };
  for (size_t i = 0; i < arguments; ++i) {
    const c10::IValue& value = (*stack)[stack->size() - arguments + i];
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) add(tensor);
    else if (value.isTensor()) {
      add(value.toTensor());
      if (i == 0) values = has_values(value.toTensor());
    }
  }
  launch(machine().durations.element_wise(bytes));
  if (values) return compute_really(op, stack);
  const c10::IValue first = (*stack)[stack->size() - arguments];
  torch::jit::drop(*stack, arguments);
  if (!op.schema().returns().empty()) stack->push_back(first);
}

// The fused optimizer: the device file says what it takes for all weights.
void fused_optimizer(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t arguments = op.schema().arguments().size();
  int64_t weights = 0;
  for (const at::Tensor& weight : (*stack)[stack->size() - arguments].toTensorVector())
    weights += weight.numel();
  Machine& all = machine();
  all.order.stepped(weights, all.timelines.now(current_device(), current_stream()));
  launch(all.weights > 0
             ? Nanoseconds(double(all.durations.optimizer()) * double(weights) / double(all.weights))
             : all.durations.element_wise(5.0 * 4 * double(weights)));
  torch::jit::drop(*stack, arguments);
}

void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  launch(0);
  compute_really(op, stack);
}

}  // namespace

void register_operators() {
  static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  aten.impl("empty.memory_format", empty);
  aten.impl("empty_strided", empty_strided);
  aten.impl("as_strided", strided_view);
  aten.impl("view", view);
  aten.impl("resize_", resize);
  aten.impl("_copy_from", copy_from);
  aten.impl("_copy_from_and_resize", copy_from_and_resize);
  aten.impl("zero_", zero);
  for (const char* name :
       {"add_.Tensor", "mul_.Tensor", "mul_.Scalar", "div_.Tensor", "mul.out", "uniform_", "normal_",
        "_foreach_copy_", "_foreach_add_.List", "_foreach_add_.Scalar", "_foreach_sub_.List",
        "_foreach_zero_", "_foreach_mul_.Scalar", "_amp_foreach_non_finite_check_and_unscale_"})
    aten.impl(name, torch::CppFunction::makeFromBoxedFunction<&time_only>());
  for (const char* name : {"_fused_sgd_", "_fused_sgd_.tensor_lr", "_fused_adam_", "_fused_adam_.tensor_lr"})
    aten.impl(name, torch::CppFunction::makeFromBoxedFunction<&fused_optimizer>());
  static torch::Library others(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  others.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
  // O1's casts have no values to change here: its times are the device file's.
  static torch::Library autocast(torch::Library::IMPL, "_", c10::DispatchKey::AutocastPrivateUse1, __FILE__,
                                 __LINE__);
  autocast.fallback(torch::CppFunction::makeFallthrough());
}

}  // namespace bench::emulated
