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

// A batch normalisation in training mode: normalises x (N x C x H x W) with statistics of its own making, and
// moves the running ones by the momentum 0.1. Differentiable in x, scale and shift.
class BatchNorm {
 public:
  virtual ~BatchNorm() = default;
  virtual at::Tensor forward(size_t layer, const at::Tensor& x, const at::Tensor& scale,
                             const at::Tensor& shift, at::Tensor& running_mean,
                             at::Tensor& running_variance) = 0;
};
constexpr double kBatchNormEpsilon = 1e-5, kBatchNormMomentum = 0.1;

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

  int64_t classes() const { return classifier_bias_.size(0); }
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const {
    return buffers_;
  }  // running statistics, FP32; counts, int64
  std::vector<at::Tensor> parameter_tensors() const;
  std::vector<at::Tensor> buffer_tensors() const;
  std::vector<at::Tensor> gradient_tensors() const;  // of the parameters, in their order

  // Moves parameters and buffers in place, with `channels_last` the weights of convolutions as NHWC in
  // memory; before a strategy or an optimizer sees them.
  void to(at::Device device, bool channels_last = false);
  // Changes a parameter's type in place; every handle of it (parameters(), forward()) sees the change.
  void convert(size_t parameter, at::ScalarType type);
  bool is_batch_norm(size_t parameter) const;
  // Drops the gradients; or zeroes them in place, for a strategy whose communication buffers they are views
  // of.
  void clear_gradients();
  void keep_gradient_memory(bool on) { keep_gradient_memory_ = on; }
  // Takes the place of at::batch_norm wherever batch statistics are used; null: at::batch_norm again. Not
  // owned.
  void replace_batch_norm(BatchNorm* batch_norm) { batch_norm_ = batch_norm; }
  // Batch-norm layers in the order in which forward() meets them, as in torchvision's state_dict, e.g. bn1.
  std::vector<std::string> batch_norm_names() const;

 private:
  struct ConvBn {
    at::Tensor weight, scale, shift, mean, variance, batches;
    int64_t stride, padding;
    size_t index;  // among the batch-norm layers
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
  bool batch_statistics_ = true, keep_gradient_memory_ = false;
  BatchNorm* batch_norm_ = nullptr;
};

}  // namespace bench
