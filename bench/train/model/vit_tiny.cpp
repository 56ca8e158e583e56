// A stack of transformer blocks: a vision transformer (Dosovitskiy et al. 2020, arXiv 2010.11929) with
// torchvision's structure, names and initial weights. Its size is that of DeiT-Ti (Touvron et al. 2020): 12
// blocks, 3 heads, 192 channels at width 64, patches of 16 px.
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/train/model/model.h"

namespace bench {
namespace {

constexpr int64_t kPatchPx = 16, kBlocks = 12, kHeads = 3;
constexpr double kNormEpsilon = 1e-6;

class VisionTransformer : public Model {
 public:
  explicit VisionTransformer(const harness::Row& row)
      : Model(row), dropout_(row.dropout), channels_(kHeads * row.width) {
    if (row.image_px % kPatchPx != 0)
      throw std::invalid_argument(fmt::format(
          "model vit_tiny divides images into patches of {} px; image_px is {}: choose a multiple", kPatchPx,
          row.image_px));
    const int64_t side = row.image_px / kPatchPx, fan_in = 3 * kPatchPx * kPatchPx;
    class_token_ = add_parameter("class_token", at::zeros({1, 1, channels_}));
    patches_.weight = add_parameter(
        "conv_proj.weight",
        at::empty({channels_, 3, kPatchPx, kPatchPx}).normal_(0, std::sqrt(1.0 / double(fan_in))));
    patches_.bias = add_parameter("conv_proj.bias", at::zeros({channels_}));
    positions_ =
        add_parameter("encoder.pos_embedding", at::empty({1, side * side + 1, channels_}).normal_(0, 0.02));
    for (int64_t i = 0; i < kBlocks; ++i) {
      next_unit();
      blocks_.push_back(make_block(fmt::format("encoder.layers.encoder_layer_{}.", i)));
    }
    next_unit();
    last_norm_ = make_norm("encoder.ln");
    head_.weight = add_parameter("heads.head.weight", at::zeros({row.classes, channels_}));
    head_.bias = add_parameter("heads.head.bias", at::zeros({row.classes}));
  }

 private:
  struct WeightAndBias {
    at::Tensor weight, bias;
  };
  struct Block {
    WeightAndBias first_norm, in_projection, out_projection, second_norm, widen, narrow;
  };

  WeightAndBias make_norm(const std::string& name) {
    WeightAndBias norm;
    norm.weight = add_parameter(name + ".weight", at::ones({channels_}));
    norm.bias = add_parameter(name + ".bias", at::zeros({channels_}));
    return norm;
  }
  // Glorot and Bengio's uniform weights.
  static at::Tensor xavier(int64_t out, int64_t in) {
    const double bound = std::sqrt(6.0 / double(in + out));
    return at::empty({out, in}).uniform_(-bound, bound);
  }
  Block make_block(const std::string& name) {
    const int64_t wide = 4 * channels_;
    const double bound = 1 / std::sqrt(double(channels_));
    Block block;
    block.first_norm = make_norm(name + "ln_1");
    const std::string attention = name + "self_attention.";
    block.in_projection.weight =
        add_parameter(attention + "in_proj_weight", xavier(3 * channels_, channels_));
    block.in_projection.bias = add_parameter(attention + "in_proj_bias", at::zeros({3 * channels_}));
    block.out_projection.weight = add_parameter(attention + "out_proj.weight",
                                                at::empty({channels_, channels_}).uniform_(-bound, bound));
    block.out_projection.bias = add_parameter(attention + "out_proj.bias", at::zeros({channels_}));
    block.second_norm = make_norm(name + "ln_2");
    block.widen.weight = add_parameter(name + "mlp.0.weight", xavier(wide, channels_));
    block.widen.bias = add_parameter(name + "mlp.0.bias", at::empty({wide}).normal_(0, 1e-6));
    block.narrow.weight = add_parameter(name + "mlp.3.weight", xavier(channels_, wide));
    block.narrow.bias = add_parameter(name + "mlp.3.bias", at::empty({channels_}).normal_(0, 1e-6));
    return block;
  }

  at::Tensor drop(const at::Tensor& x) const {
    return dropout_ > 0 ? at::dropout(x, dropout_, training()) : x;
  }
  at::Tensor norm(const at::Tensor& x, const WeightAndBias& layer) const {
    return at::layer_norm(x, {channels_}, layer.weight, layer.bias, kNormEpsilon);
  }
  // x: N x tokens x channels.
  at::Tensor attention(const at::Tensor& x, const Block& block) const {
    const int64_t images = x.size(0), tokens = x.size(1);
    const at::Tensor projected = at::linear(x, block.in_projection.weight, block.in_projection.bias)
                                     .view({images, tokens, 3, kHeads, channels_ / kHeads})
                                     .permute({2, 0, 3, 1, 4});
    const at::Tensor mixed = at::scaled_dot_product_attention(projected[0], projected[1], projected[2],
                                                              /*attn_mask=*/{}, training() ? dropout_ : 0.0)
                                 .transpose(1, 2)
                                 .reshape({images, tokens, channels_});
    return at::linear(mixed, block.out_projection.weight, block.out_projection.bias);
  }
  at::Tensor mlp(const at::Tensor& x, const Block& block) const {
    const at::Tensor wide = drop(at::gelu(at::linear(x, block.widen.weight, block.widen.bias)));
    return drop(at::linear(wide, block.narrow.weight, block.narrow.bias));
  }

  at::Tensor embed(const at::Tensor& images) const {
    at::Tensor x = at::conv2d(images, patches_.weight, patches_.bias, {kPatchPx, kPatchPx});
    x = x.flatten(2).transpose(1, 2);
    x = at::cat({class_token_.expand({x.size(0), -1, -1}).to(x.scalar_type()), x}, 1);
    return drop(x.add(positions_));
  }

  at::Tensor compute(size_t unit, const at::Tensor& x) override {
    if (unit == 0) return embed(x);
    if (unit > blocks_.size()) return at::linear(norm(x, last_norm_).select(1, 0), head_.weight, head_.bias);
    const Block& block = blocks_[unit - 1];
    const at::Tensor attended = x.add(drop(attention(norm(x, block.first_norm), block)));
    return attended.add(mlp(norm(attended, block.second_norm), block));
  }

  const double dropout_;
  const int64_t channels_;
  at::Tensor class_token_, positions_;
  WeightAndBias patches_, last_norm_, head_;
  std::vector<Block> blocks_;
};

const bool registered_model_vit_tiny = ModelRegistry::instance().add(
    {"model",
     "vit_tiny",
     "vision transformer of 12 blocks: 5.7 million parameters at width 64",
     {.batch_norm = false, .patch_px = kPatchPx}},
    [](const harness::Row& row) { return std::make_unique<VisionTransformer>(row); });

}  // namespace
}  // namespace bench
