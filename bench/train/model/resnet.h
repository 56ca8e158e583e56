// The residual networks of He et al. 2015 (arXiv 1512.03385) with torchvision's structure, names and initial
// weights: convolutions Kaiming normal (fan-out), batch norm 1 and 0, classifier uniform +-1/sqrt(fan-in).
#pragma once
#include <array>

#include "bench/train/model/model.h"

namespace bench {

// What distinguishes the networks of this family.
struct ResNetShape {
  struct Convolution {
    int64_t kernel;
    int64_t expansion;  // its output channels: this many times the stage's
    bool strided;       // halves the image in the first block of stages 2 to 4
  };
  std::vector<Convolution> block;  // a block's chain, ReLU between them
  std::array<int64_t, 4> blocks;   // per stage
};
const ResNetShape& resnet18();
const ResNetShape& resnet50();

class ResNet : public Model {
 public:
  // row.width: channels after the first convolution (torchvision: 64); the stages have 1, 2, 4 and 8
  // times as many.
  explicit ResNet(const harness::Row& row, const ResNetShape& shape = resnet18());

 private:
  struct ConvBn {
    at::Tensor weight, scale, shift, mean, variance, batches;
    int64_t stride, padding;
    size_t index;  // among the batch-norm layers
  };
  struct Block {
    std::vector<ConvBn> chain;
    std::vector<ConvBn> downsample;  // empty or one
  };
  ConvBn make_conv_bn(const std::string& conv, const std::string& bn, int64_t in, int64_t out, int64_t kernel,
                      int64_t stride);
  at::Tensor conv_bn(const at::Tensor& x, ConvBn& layer);
  // Calls `addend`, where there is one, after the convolution, and adds its result before the ReLU.
  at::Tensor conv_bn_relu(const at::Tensor& x, ConvBn& layer, const std::function<at::Tensor()>& addend = {});
  at::Tensor block(const at::Tensor& x, Block& layer);
  at::Tensor compute(size_t unit, const at::Tensor& x) override;  // stem, blocks, classifier

  ConvBn stem_;
  std::vector<Block> blocks_;
  const double dropout_;  // before the classifier; torchvision has none
  const bool fused_batch_norm_, byte_pool_indices_;
  at::Tensor classifier_weight_, classifier_bias_;
};

}  // namespace bench
