// Builds the chain of layers from the model's parameters, with forward and backward times for each layer.
#include "bench/train/emulated/network.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <stdexcept>

namespace bench::emulated {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Kernels of one node: convolution, batch norm, ReLU or sum; backward computes two gradients of the
// convolution.
constexpr int kForwardKernels = 3, kBackwardKernels = 5;
// SyncBN's messages lie between a layer's convolution and its normalisation. Share of the layer's time that
// follows them in forward, and goes before them in backward: an assumption; the layer's sum does not depend
// on it.
constexpr double kNormalisation = 0.25;

// What SyncBN sends for a layer with so many channels: means, deviations and count; in backward two sums.
struct Synchronised {
  BatchNorm* batch_norm = nullptr;  // null: each rank normalises by itself
  int64_t layer = 0, channels = 0;

  void in_forward(const at::Tensor& like) const {
    batch_norm->all_of(size_t(layer), at::empty({2 * channels + 1}, like.options().dtype(at::kFloat)));
  }
  void in_backward(const at::Tensor& like) const {
    at::Tensor sums = at::empty({2 * channels}, like.options().dtype(at::kFloat));
    batch_norm->sum_backward(sums);
  }
};

at::Tensor bytes_on(const at::Tensor& like, int64_t bytes) {
  return at::empty({bytes}, like.options().dtype(at::kByte).requires_grad(false));
}

struct Node : torch::autograd::Function<Node> {
  // weights: the layer's parameters. Returns the activations' stand-in: `outputs` elements per image, one
  // unless they leave the device. kept_bytes: of the activations that backward needs; output_bytes: of the
  // layer's output.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& second, const std::optional<at::Tensor>& third,
                            double forward_ns, double backward_ns, int64_t outputs, int64_t layer,
                            int64_t batch_norm, int64_t kept_bytes, int64_t output_bytes) {
    const Synchronised sync{reinterpret_cast<BatchNorm*>(batch_norm), layer, weight.size(0)};
    if (sync.batch_norm) {
      launch(Nanoseconds(forward_ns * (1 - kNormalisation)), 1);
      sync.in_forward(x);
      launch(Nanoseconds(forward_ns * kNormalisation), kForwardKernels - 1);
    } else {
      launch(Nanoseconds(forward_ns), kForwardKernels);
    }
    context->saved_data["ns"] = backward_ns;
    context->saved_data["layer"] = layer;
    context->saved_data["batch_norm"] = batch_norm;
    context->saved_data["output_bytes"] = output_bytes;
    context->save_for_backward({x, weight, second, third.value_or(at::Tensor()), bytes_on(x, kept_bytes)});
    return at::empty({x.size(0), outputs}, x.options().dtype(at::kFloat));
  }
  static variable_list backward(AutogradContext* context, const variable_list&) {
    const double ns = context->saved_data["ns"].toDouble();
    const variable_list with_activations = context->get_saved_variables();
    const variable_list all_saved(with_activations.begin(), with_activations.begin() + 4);
    // The gradients of the layer's output and of its convolution's, while it computes.
    const at::Tensor gradients_of_outputs =
        bytes_on(all_saved[1], 2 * context->saved_data["output_bytes"].toInt());
    const Synchronised sync{reinterpret_cast<BatchNorm*>(context->saved_data["batch_norm"].toInt()),
                            context->saved_data["layer"].toInt(), all_saved[1].size(0)};
    if (sync.batch_norm) {
      launch(Nanoseconds(ns * kNormalisation), 2);
      sync.in_backward(all_saved[1]);
      launch(Nanoseconds(ns * (1 - kNormalisation)), kBackwardKernels - 2);
    } else {
      launch(Nanoseconds(ns), kBackwardKernels);
    }
    variable_list gradients;
    for (const at::Tensor& saved : all_saved)
      gradients.push_back(saved.defined() && saved.is_floating_point() ? at::empty_like(saved)
                                                                       : at::Tensor());
    gradients.resize(11);  // none for what is no tensor
    return gradients;
  }
};

// Side of the feature maps that a convolution writes: the stem halves the image, its pooling halves it again,
// and each stage from the second on does too, a bottleneck block in its second convolution.
int64_t output_px(const std::string& name, int64_t image_px, bool bottleneck) {
  if (name.rfind("layer", 0) != 0) return image_px / 2;
  const int64_t stage = name[5] - '0';
  const bool before_halving = bottleneck && stage > 1 && name.substr(6) == ".0.conv1.weight";
  return image_px >> (stage + (before_halving ? 0 : 1));
}

// Elements per image that the next unit gets, as so many float32: of a 16-bit type half as many.
int64_t passed_on(const Layer& layer) {
  const int64_t pooled = layer.kept_index_bytes > 0 ? 4 : 1;  // the stem's pooling leaves a quarter
  return layer.output_elements / pooled * machine().activation_bytes / 4;
}

}  // namespace

std::vector<Layer> layers_of(const Model& model, int64_t image_px) {
  if (model.parameters().front().name != "conv1.weight")
    throw std::invalid_argument(
        "an emulated device divides a step into the layers of a ResNet, and this model has others; choose "
        "model resnet18 or resnet50");
  std::vector<Layer> layers;
  double all = 0;
  const auto& parameters = model.parameters();
  const bool bottleneck = std::any_of(parameters.begin(), parameters.end(), [](const NamedTensor& parameter) {
    return parameter.name == "layer1.0.conv3.weight";
  });
  for (size_t i = 0; i < parameters.size();) {
    const at::Tensor& weight = parameters[i].tensor;
    const bool convolution = weight.dim() == 4;
    const double px = convolution ? double(output_px(parameters[i].name, image_px, bottleneck)) : 1;
    Layer layer;
    layer.unit = parameters[i].unit;
    layer.share = double(weight.numel()) * px * px;
    layer.output_elements = weight.size(0) * int64_t(px * px);
    // What a downsampling batch norm returns is added at once, and nobody keeps it.
    const bool downsamples = parameters[i].name.find("downsample") != std::string::npos;
    if (convolution) layer.kept_elements = (downsamples ? 1 : 2) * layer.output_elements;
    if (layers.empty()) {  // the stem, whose pooling keeps its output and where each value came from
      const int64_t pooled = layer.output_elements / 4;
      layer.kept_elements += pooled;
      layer.kept_index_bytes = pooled * int64_t(sizeof(int64_t));
    }
    all += layer.share;
    for (size_t part = 0; part < (convolution ? 3 : 2); ++part) layer.parameters.push_back(i++);
    layers.push_back(layer);
  }
  for (Layer& layer : layers) layer.share /= all;
  return layers;
}

at::Tensor forward(const Model& model, const std::vector<Layer>& layers, const at::Tensor& images,
                   const Units& part) {
  const Durations& durations = machine().durations;
  const double forward_ns = double(durations.forward(images.size(0))),
               backward_ns = double(durations.backward(images.size(0)));
  const auto& parameters = model.parameters();
  const auto batch_norm = reinterpret_cast<int64_t>(model.batch_norm());
  // A batch of images without their pixels: nodes pass on one value per image.
  at::Tensor x = part.first > 0 ? images : images.flatten(1).narrow(1, 0, 1);
  const int64_t images_emulated = images.size(0) * machine().batch_divisor,
                element_bytes = machine().activation_bytes;
  const auto is_in = [&](size_t layer) {
    return layer < layers.size() && layers[layer].unit >= part.first && layers[layer].unit < part.end;
  };
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!is_in(i)) continue;
    const Layer& layer = layers[i];
    const bool classifies = i + 1 == layers.size();
    const auto parameter = [&](size_t number) { return parameters[layer.parameters[number]].tensor; };
    const auto third =
        layer.parameters.size() > 2 ? std::optional(parameter(2)) : std::nullopt;  // the classifier has two
    x = Node::apply(x, parameter(0), parameter(1), third, forward_ns * layer.share, backward_ns * layer.share,
                    classifies     ? model.classes()
                    : is_in(i + 1) ? int64_t(1)
                                   : passed_on(layer),
                    int64_t(i), classifies ? int64_t(0) : batch_norm,
                    images_emulated * (layer.kept_elements * element_bytes + layer.kept_index_bytes),
                    images_emulated * layer.output_elements * element_bytes);
  }
  return x;
}

}  // namespace bench::emulated
