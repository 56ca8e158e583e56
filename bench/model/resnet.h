// ResNet18 (He et al. 2015) with torchvision's structure, names and initialisation, as plain tensors and
// functions: no module tree, so a replica is a list of tensors and a strategy can copy, convert or reduce it
// directly.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace bench {

struct NamedTensor {
  std::string name;  // as in torchvision's state_dict, e.g. layer2.0.downsample.1.weight
  at::Tensor tensor;
};

class ResNet {
 public:
  // width: channels after the first convolution (torchvision: 64); stages have 1, 2, 4 and 8 times as many.
  // Weights: convolutions Kaiming normal over fan-out, batch norm 1 and 0, classifier uniform
  // +-1/sqrt(fan-in).
  ResNet(int64_t width, int64_t classes, uint64_t seed);

  // images: N x 3 x H x W in the type of the convolution weights (or any under autocast). Returns N x
  // classes. Safe to call from any thread, but not from two at once (running statistics are updated in
  // place).
  at::Tensor forward(const at::Tensor& images);

  // Batch norm: batch statistics (training) or running statistics (frozen, for gradient checks).
  void use_batch_statistics(bool on) { batch_statistics_ = on; }

  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const {
    return buffers_;
  }  // running statistics, FP32; counts, int64
  std::vector<at::Tensor> parameter_tensors() const;
  std::vector<at::Tensor> buffer_tensors() const;

  // Changes a parameter's type in place; every handle of it (parameters(), forward()) sees the change.
  void convert(size_t parameter, at::ScalarType type);
  bool is_batch_norm(size_t parameter) const;
  void clear_gradients();

 private:
  struct ConvBn {
    at::Tensor weight, scale, shift, mean, variance, batches;
    int64_t stride, padding;
  };
  struct Block {
    ConvBn first, second;
    std::vector<ConvBn> downsample;  // none or one
  };
  ConvBn make_conv_bn(const std::string& conv, const std::string& bn, int64_t in, int64_t out, int64_t kernel,
                      int64_t stride);
  at::Tensor conv_bn(const at::Tensor& x, ConvBn& layer);
  at::Tensor block(const at::Tensor& x, Block& layer);

  ConvBn stem_;
  std::vector<Block> blocks_;
  at::Tensor classifier_weight_, classifier_bias_;
  std::vector<NamedTensor> parameters_, buffers_;
  bool batch_statistics_ = true;
};

}  // namespace bench
