// ResNet on an emulated device: one autograd node per convolution with its batch norm, whose forward and
// backward put their kernels on the timeline, hold the memory of their activations, and make gradients
// without computing them.
#pragma once
#include "bench/train/emulated/machine.h"
#include "bench/train/model/model.h"

namespace bench::emulated {

// One node: which parameters it has, and its share of the network's floating-point operations.
struct Layer {
  std::vector<size_t> parameters;  // indices into Model::parameters(): weight, scale, shift; or weight, bias
  double share = 0;                // of all layers, 0 to 1; the same in forward and backward
  // What forward keeps for backward, per image: elements of activations (the convolution's output, and that
  // of batch norm and ReLU, which is the next layer's input), and bytes of indices (of the stem's pooling).
  int64_t kept_elements = 0, kept_index_bytes = 0;
  int64_t output_elements = 0;  // per image
  size_t unit = 0;              // of Model that it belongs to
};
// In the order of forward. image_px: side of the images. He et al. 2015, table 1, as torchvision builds it.
std::vector<Layer> layers_of(const Model& model, int64_t image_px);

// What Model::forward() does on an emulated device. x: N x 3 x image_px x image_px, or what the units before
// returned. Returns N x classes, float32, or N x the elements of the last unit's output; both without values.
at::Tensor forward(const Model& model, const std::vector<Layer>& layers, const at::Tensor& x,
                   const Units& part = {});

}  // namespace bench::emulated
