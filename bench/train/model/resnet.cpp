// Builds stem, stages and classifier from a table of block counts, and computes them unit by unit.
#include "bench/train/model/resnet.h"

#include <ATen/Context.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>

#include "bench/train/model/fused_layers.h"

namespace bench {

ResNet::ConvBn ResNet::make_conv_bn(const std::string& conv, const std::string& bn, int64_t in, int64_t out,
                                    int64_t kernel, int64_t stride) {
  ConvBn layer;
  layer.stride = stride;
  layer.padding = kernel / 2;
  layer.index = buffers().size() / 3;
  const double fan_out = double(out) * kernel * kernel;
  layer.weight = add_parameter(conv + ".weight",
                               at::empty({out, in, kernel, kernel}).normal_(0, std::sqrt(2.0 / fan_out)));
  layer.scale = add_parameter(bn + ".weight", at::ones({out}), /*of_batch_norm=*/true);
  layer.shift = add_parameter(bn + ".bias", at::zeros({out}), /*of_batch_norm=*/true);
  layer.mean = add_buffer(bn + ".running_mean", at::zeros({out}));
  layer.variance = add_buffer(bn + ".running_var", at::ones({out}));
  layer.batches = add_buffer(bn + ".num_batches_tracked", at::zeros({}, at::kLong));
  return layer;
}

ResNet::ResNet(const harness::Row& row, const ResNetShape& shape)
    : Model(row),
      dropout_(row.dropout),
      fused_batch_norm_(row.fused_batch_norm),
      byte_pool_indices_(row.byte_pool_indices) {
  stem_ = make_conv_bn("conv1", "bn1", 3, row.width, 7, 2);
  int64_t in = row.width;
  for (size_t stage = 0; stage < shape.blocks.size(); ++stage)
    for (int64_t unit = 0; unit < shape.blocks[stage]; ++unit) {
      const std::string name = fmt::format("layer{}.{}.", stage + 1, unit);
      const int64_t channels = row.width << stage, halving = stage > 0 && unit == 0 ? 2 : 1;
      const int64_t entering = in;
      next_unit();
      Block layer;
      for (const ResNetShape::Convolution& convolution : shape.block) {
        const int64_t out = channels * convolution.expansion;
        const size_t number = layer.chain.size() + 1;
        layer.chain.push_back(make_conv_bn(fmt::format("{}conv{}", name, number),
                                           fmt::format("{}bn{}", name, number), in, out, convolution.kernel,
                                           convolution.strided ? halving : 1));
        in = out;
      }
      if (halving != 1 || entering != in)
        layer.downsample.push_back(
            make_conv_bn(name + "downsample.0", name + "downsample.1", entering, in, 1, halving));
      blocks_.push_back(std::move(layer));
    }
  next_unit();
  const double bound = 1 / std::sqrt(double(in));
  classifier_weight_ = add_parameter("fc.weight", at::empty({row.classes, in}).uniform_(-bound, bound));
  classifier_bias_ = add_parameter("fc.bias", at::empty({row.classes}).uniform_(-bound, bound));
}

static at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, int64_t stride,
                              int64_t padding) {
  return at::conv2d(x, weight, {}, {stride, stride}, {padding, padding});
}

at::Tensor ResNet::conv_bn(const at::Tensor& x, ConvBn& layer) {
  const at::Tensor y = convolution(x, layer.weight, layer.stride, layer.padding);
  if (training()) layer.batches.add_(1);
  if (training() && batch_norm())
    return batch_norm()->forward(layer.index, y, layer.scale, layer.shift, layer.mean, layer.variance);
  return at::batch_norm(y, layer.scale, layer.shift, layer.mean, layer.variance, training(),
                        kBatchNormMomentum, kBatchNormEpsilon, at::globalContext().userEnabledCuDNN());
}

at::Tensor ResNet::conv_bn_relu(const at::Tensor& x, ConvBn& layer,
                                const std::function<at::Tensor()>& addend) {
  if (training() && fused_batch_norm_) {
    const at::Tensor y = convolution(x, layer.weight, layer.stride, layer.padding);
    layer.batches.add_(1);
    return batch_norm_relu(y, addend ? addend() : at::Tensor(), layer.scale, layer.shift, layer.mean,
                           layer.variance);
  }
  at::Tensor y = conv_bn(x, layer);
  if (addend) y += addend();
  return at::relu_(y);
}

at::Tensor ResNet::block(const at::Tensor& x, Block& layer) {
  at::Tensor y = x;
  for (size_t i = 0; i + 1 < layer.chain.size(); ++i) y = conv_bn_relu(y, layer.chain[i]);
  return conv_bn_relu(y, layer.chain.back(),
                      [&] { return layer.downsample.empty() ? x : conv_bn(x, layer.downsample[0]); });
}

at::Tensor ResNet::compute(size_t unit, const at::Tensor& x) {
  if (unit == 0) {
    const at::Tensor stem = conv_bn_relu(x, stem_);
    return training() && byte_pool_indices_ ? max_pool_3x3(stem)
                                            : at::max_pool2d(stem, {3, 3}, {2, 2}, {1, 1});
  }
  if (unit <= blocks_.size()) return block(x, blocks_[unit - 1]);
  at::Tensor pooled = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
  if (dropout_ > 0) pooled = at::dropout(pooled, dropout_, training());
  return at::linear(pooled, classifier_weight_, classifier_bias_);
}

}  // namespace bench
