// ResNet18 (He et al. 2015) with torchvision's structure, names and initialisation, as plain tensors and
// functions without a module tree, so that strategies can copy, convert or reduce the list of tensors
// directly.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace bench {

struct NamedTensor {
  std::string name;  // as in torchvision's state_dict, e.g. layer2.0.downsample.1.weight
  at::Tensor tensor;
};

// Batch normalisation in training mode: normalises x (N x C x H x W) with its own statistics and updates the
// running statistics (C) with kBatchNormMomentum. Differentiable in x, scale and shift (both C).
class BatchNorm {
 public:
  virtual ~BatchNorm() = default;
  virtual at::Tensor forward(size_t layer, const at::Tensor& x, const at::Tensor& scale,
                             const at::Tensor& shift, at::Tensor& running_mean,
                             at::Tensor& running_variance) = 0;
  // Its messages alone, for a device that computes no values: the statistics that a layer gathers from all
  // ranks (one tensor per rank), and the sums that backward all-reduces in place.
  virtual std::vector<at::Tensor> all_of(size_t layer, const at::Tensor& mine) = 0;
  virtual void sum_backward(at::Tensor& sums) = 0;
};
constexpr double kBatchNormEpsilon = 1e-5, kBatchNormMomentum = 0.1;

class ResNet {
 public:
  // width: channels after the first convolution (torchvision: 64); the four stages have 1, 2, 4 and 8 times
  // as many. Initial weights as in torchvision: convolutions Kaiming normal (fan-out), batch norm 1 and 0,
  // classifier uniform +-1/sqrt(fan-in).
  ResNet(int64_t width, int64_t classes, uint64_t seed);

  // images: N x 3 x H x W in the type of the convolution weights (under autocast any type). Returns logits N
  // x classes. May be called from any thread, but not concurrently (updates running statistics in place).
  at::Tensor forward(const at::Tensor& images);

  // Computes forward() in another way, for a device whose tensors hold no values.
  using Forward = std::function<at::Tensor(const ResNet& model, const at::Tensor& images)>;
  void replace_forward(Forward forward) { forward_ = std::move(forward); }

  // Batch norm: batch statistics (training) or running statistics (frozen, for gradient checks).
  void use_batch_statistics(bool on) { batch_statistics_ = on; }

  int64_t classes() const { return classifier_bias_.size(0); }
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  // Running statistics (float32) and batch counts (int64).
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  std::vector<at::Tensor> parameter_tensors() const;
  std::vector<at::Tensor> buffer_tensors() const;
  std::vector<at::Tensor> gradient_tensors() const;  // in the order of parameters()

  // Moves parameters and buffers in place; with `channels_last` convolution weights become NHWC. Call before
  // a strategy or optimizer uses them.
  void to(at::Device device, bool channels_last = false);
  // Changes a parameter's dtype in place; affects all handles of the tensor.
  void convert(size_t parameter, at::ScalarType type);
  bool is_batch_norm(size_t parameter) const;
  // Releases the gradients, or with keep_gradient_memory(true) zeroes them in place (for strategies in which
  // they are views of communication buffers).
  void clear_gradients();
  void keep_gradient_memory(bool on) { keep_gradient_memory_ = on; }
  // Replaces at::batch_norm where batch statistics are used (not owned); null: at::batch_norm.
  void replace_batch_norm(BatchNorm* batch_norm) { batch_norm_ = batch_norm; }
  BatchNorm* batch_norm() const { return batch_norm_; }
  // Names of the batch-norm layers as in torchvision's state_dict, e.g. bn1, in forward order.
  std::vector<std::string> batch_norm_names() const;

 private:
  struct ConvBn {
    at::Tensor weight, scale, shift, mean, variance, batches;
    int64_t stride, padding;
    size_t index;  // among the batch-norm layers
  };
  struct Block {
    ConvBn first, second;
    std::vector<ConvBn> downsample;  // empty or one
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
  Forward forward_;
};

}  // namespace bench
