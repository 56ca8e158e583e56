// Keeps lists of named parameters and buffers, and moves, converts or copies them together.
#include "bench/train/model/model.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_zero.h>

#include <algorithm>
#include <stdexcept>

namespace bench {

Model::Model(const harness::Row& row) : classes_(row.classes) { at::manual_seed(uint64_t(row.seed)); }

at::Tensor Model::add_parameter(const std::string& name, at::Tensor tensor, bool of_batch_norm) {
  tensor.set_requires_grad(true);
  parameters_.push_back({name, tensor, units_ - 1, of_batch_norm});
  return tensor;
}

at::Tensor Model::add_buffer(const std::string& name, at::Tensor tensor) {
  buffers_.push_back({name, tensor, units_ - 1});
  return tensor;
}

at::Tensor Model::forward(at::Tensor x, const Units& part) {
  if (forward_) return forward_(*this, x, part);
  for (size_t unit = part.first; unit < std::min(part.end, units_); ++unit) x = compute(unit, x);
  return x;
}

static std::vector<at::Tensor> tensors_of(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const auto& entry : named) tensors.push_back(entry.tensor);
  return tensors;
}

std::vector<at::Tensor> Model::parameter_tensors() const { return tensors_of(parameters_); }
std::vector<at::Tensor> Model::buffer_tensors() const { return tensors_of(buffers_); }

std::vector<at::Tensor> Model::gradient_tensors() const {
  std::vector<at::Tensor> gradients;
  gradients.reserve(parameters_.size());
  for (const NamedTensor& parameter : parameters_) {
    if (!parameter.tensor.grad().defined()) throw std::logic_error("no gradient for " + parameter.name);
    gradients.push_back(parameter.tensor.grad());
  }
  return gradients;
}

void Model::copy_values_of(const Model& other) {
  at::NoGradGuard no_grad;
  at::_foreach_copy_(parameter_tensors(), other.parameter_tensors(), /*non_blocking=*/true);
  // A transformer has no buffers, and LibTorch refuses empty lists.
  if (!buffers_.empty()) at::_foreach_copy_(buffer_tensors(), other.buffer_tensors(), /*non_blocking=*/true);
}

void Model::to(at::Device device, bool channels_last, const Units& part) {
  const auto format = channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  for (std::vector<NamedTensor>* list : {&parameters_, &buffers_})
    for (NamedTensor& named : *list) {
      if (named.unit < part.first || named.unit >= part.end) continue;
      at::Tensor& tensor = named.tensor;
      const at::Tensor moved = tensor.detach().to(device);
      const at::Tensor data = moved.dim() == 4 ? moved.contiguous(format) : moved;
      if (device.type() ==
          at::kPrivateUse1)  // set_data() refuses it; forward() is replaced there, and its handles
        tensor = data.set_requires_grad(tensor.requires_grad());
      else
        tensor.set_data(data);
    }
}

void Model::convert(size_t parameter, at::ScalarType type) {
  at::Tensor& tensor = parameters_[parameter].tensor;
  tensor.set_data(tensor.detach().to(type));
}

std::vector<std::string> Model::batch_norm_names() const {
  std::vector<std::string> names;
  for (const auto& buffer : buffers_)
    if (const size_t end = buffer.name.find(".running_mean"); end != std::string::npos)
      names.push_back(buffer.name.substr(0, end));
  return names;
}

void Model::clear_gradients() {
  if (keep_gradient_memory_) {
    std::map<std::pair<int, at::ScalarType>, std::vector<at::Tensor>> groups;  // a kernel for each
    for (const auto& parameter : parameters_)
      if (const at::Tensor& gradient = parameter.tensor.grad(); gradient.defined())
        groups[{gradient.device().index(), gradient.scalar_type()}].push_back(gradient);
    for (auto& [kind, gradients] : groups) at::_foreach_zero_(gradients);
    return;
  }
  for (auto& parameter : parameters_) parameter.tensor.mutable_grad().reset();
}

std::unique_ptr<Model> make_model(const harness::Row& row) {
  return ModelRegistry::instance().find(row.model)(row);
}

}  // namespace bench
