// O2: 16-bit weights except batch norm, float32 master weights in the optimizer, dynamic loss scaling.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty_like.h>

#include "bench/train/precision/precision.h"

namespace bench {
namespace {

class O2 : public Precision {
 public:
  explicit O2(const PrecisionOptions& options)
      : Precision(options, sixteen_bit_type(options.device), {.scales = true}) {}
  void convert(Model& model) const override {
    for (size_t i = 0; i < model.parameters().size(); ++i)
      if (!model.parameters()[i].of_batch_norm) model.convert(i, type_);
  }

  void step(Model& model) override {
    at::NoGradGuard no_grad;
    if (optimized_.empty()) make_masters(model);
    std::vector<at::Tensor> gradients = model.gradient_tensors(), sixteen;
    for (size_t index : sixteen_bit_) sixteen.push_back(gradients[index]);
    at::_foreach_copy_(master_gradients_, sixteen);
    for (size_t i = 0; i < sixteen_bit_.size(); ++i) gradients[sixteen_bit_[i]] = master_gradients_[i];
    update(optimized_, gradients);
    at::_foreach_copy_(weights_, masters_);
    model.clear_gradients();
  }

 private:
  void make_masters(const Model& model) {
    optimized_ = model.parameter_tensors();
    for (size_t i = 0; i < optimized_.size(); ++i) {
      if (optimized_[i].scalar_type() != type_) continue;
      sixteen_bit_.push_back(i);
      weights_.push_back(optimized_[i]);
      masters_.push_back(optimized_[i].detach().to(at::kFloat));
      master_gradients_.push_back(at::empty_like(masters_.back()));
      optimized_[i] = masters_.back();
    }
  }

  std::vector<size_t> sixteen_bit_;    // which parameters have masters
  std::vector<at::Tensor> optimized_;  // masters, and the float32 parameters themselves
  std::vector<at::Tensor> weights_, masters_, master_gradients_;  // in the order of sixteen_bit_
};

const bool registered_precision_o2 = PrecisionRegistry::instance().add(
    {"precision", "o2", "16-bit weights except batch norm, float32 masters, gradient scaler"},
    [](const PrecisionOptions& options) { return std::make_unique<O2>(options); });

}  // namespace
}  // namespace bench
