#include "bench/train/model/resnet.h"

#include <ATen/Context.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace bench {

ResNet::ConvBn ResNet::make_conv_bn(const std::string& conv, const std::string& bn, int64_t in, int64_t out,
                                    int64_t kernel, int64_t stride) {
  ConvBn layer;
  layer.stride = stride;
  layer.padding = kernel / 2;
  layer.index = buffers_.size() / 3;
  const double fan_out = double(out) * kernel * kernel;
  layer.weight = at::empty({out, in, kernel, kernel}).normal_(0, std::sqrt(2.0 / fan_out));
  layer.scale = at::ones({out});
  layer.shift = at::zeros({out});
  layer.mean = at::zeros({out});
  layer.variance = at::ones({out});
  layer.batches = at::zeros({}, at::kLong);
  parameters_.push_back({conv + ".weight", layer.weight});
  parameters_.push_back({bn + ".weight", layer.scale});
  parameters_.push_back({bn + ".bias", layer.shift});
  buffers_.push_back({bn + ".running_mean", layer.mean});
  buffers_.push_back({bn + ".running_var", layer.variance});
  buffers_.push_back({bn + ".num_batches_tracked", layer.batches});
  return layer;
}

ResNet::ResNet(int64_t width, int64_t classes, uint64_t seed) {
  at::manual_seed(seed);
  stem_ = make_conv_bn("conv1", "bn1", 3, width, 7, 2);
  int64_t in = width;
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t out = width << stage;
    for (int unit = 0; unit < 2; ++unit) {
      const std::string name = fmt::format("layer{}.{}.", stage + 1, unit);
      const int64_t stride = stage > 0 && unit == 0 ? 2 : 1;
      Block layer;
      layer.first = make_conv_bn(name + "conv1", name + "bn1", in, out, 3, stride);
      layer.second = make_conv_bn(name + "conv2", name + "bn2", out, out, 3, 1);
      if (stride != 1 || in != out)
        layer.downsample.push_back(
            make_conv_bn(name + "downsample.0", name + "downsample.1", in, out, 1, stride));
      blocks_.push_back(std::move(layer));
      in = out;
    }
  }
  const double bound = 1 / std::sqrt(double(in));
  classifier_weight_ = at::empty({classes, in}).uniform_(-bound, bound);
  classifier_bias_ = at::empty({classes}).uniform_(-bound, bound);
  parameters_.push_back({"fc.weight", classifier_weight_});
  parameters_.push_back({"fc.bias", classifier_bias_});
  for (auto& parameter : parameters_) parameter.tensor.set_requires_grad(true);
}

at::Tensor ResNet::conv_bn(const at::Tensor& x, ConvBn& layer) {
  const at::Tensor y =
      at::conv2d(x, layer.weight, {}, {layer.stride, layer.stride}, {layer.padding, layer.padding});
  if (batch_statistics_) layer.batches.add_(1);
  if (batch_statistics_ && batch_norm_)
    return batch_norm_->forward(layer.index, y, layer.scale, layer.shift, layer.mean, layer.variance);
  return at::batch_norm(y, layer.scale, layer.shift, layer.mean, layer.variance, batch_statistics_,
                        kBatchNormMomentum, kBatchNormEpsilon, at::globalContext().userEnabledCuDNN());
}

at::Tensor ResNet::block(const at::Tensor& x, Block& layer) {
  at::Tensor y = conv_bn(x, layer.first);
  y = conv_bn(at::relu_(y), layer.second);
  y += layer.downsample.empty() ? x : conv_bn(x, layer.downsample[0]);
  return at::relu_(y);
}

at::Tensor ResNet::forward(const at::Tensor& images) {
  if (forward_) return forward_(*this, images);
  at::Tensor x = conv_bn(images, stem_);
  x = at::max_pool2d(at::relu_(x), {3, 3}, {2, 2}, {1, 1});
  for (Block& layer : blocks_) x = block(x, layer);
  x = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
  return at::linear(x, classifier_weight_, classifier_bias_);
}

static std::vector<at::Tensor> tensors_of(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const auto& entry : named) tensors.push_back(entry.tensor);
  return tensors;
}

std::vector<at::Tensor> ResNet::parameter_tensors() const { return tensors_of(parameters_); }
std::vector<at::Tensor> ResNet::buffer_tensors() const { return tensors_of(buffers_); }

std::vector<at::Tensor> ResNet::gradient_tensors() const {
  std::vector<at::Tensor> gradients;
  gradients.reserve(parameters_.size());
  for (const NamedTensor& parameter : parameters_) {
    if (!parameter.tensor.grad().defined()) throw std::logic_error("no gradient for " + parameter.name);
    gradients.push_back(parameter.tensor.grad());
  }
  return gradients;
}

void ResNet::to(at::Device device, bool channels_last) {
  const auto format = channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  for (auto* list : {&parameters_, &buffers_})
    for (NamedTensor& entry : *list) {
      const at::Tensor moved = entry.tensor.detach().to(device);
      const at::Tensor data = moved.dim() == 4 ? moved.contiguous(format) : moved;
      if (device.type() ==
          at::kPrivateUse1)  // set_data() refuses it; forward() is replaced there, and its handles
        entry.tensor = data.set_requires_grad(entry.tensor.requires_grad());
      else
        entry.tensor.set_data(data);
    }
}

void ResNet::convert(size_t parameter, at::ScalarType type) {
  at::Tensor& tensor = parameters_[parameter].tensor;
  tensor.set_data(tensor.detach().to(type));
}

bool ResNet::is_batch_norm(size_t parameter) const {
  const at::Tensor& tensor = parameters_[parameter].tensor;
  return tensor.dim() == 1 && parameters_[parameter].name != "fc.bias";
}

std::vector<std::string> ResNet::batch_norm_names() const {
  std::vector<std::string> names;
  for (const auto& buffer : buffers_)
    if (const size_t end = buffer.name.find(".running_mean"); end != std::string::npos)
      names.push_back(buffer.name.substr(0, end));
  return names;
}

void ResNet::clear_gradients() {
  if (keep_gradient_memory_) {
    for (auto& parameter : parameters_)
      if (parameter.tensor.grad().defined()) parameter.tensor.mutable_grad().zero_();
    return;
  }
  for (auto& parameter : parameters_) parameter.tensor.mutable_grad().reset();
}

}  // namespace bench
