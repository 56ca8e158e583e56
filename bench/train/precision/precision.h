// The number formats of weights, activations and optimizer. Each mode is one file in this folder; O0 to O3
// follow the semantics of NVIDIA APEX's opt_level (apex.amp).
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/registry/registry.h"
#include "bench/train/model/model.h"
#include "bench/train/optimizer/grad_scaler.h"
#include "bench/train/optimizer/optimizer.h"

namespace bench {

// The 16-bit type of a device: bfloat16 on a CPU (float16 is 16 times slower there). A mode that computes in
// it calls this first, because in_float32.h then decides how a CPU does so.
at::ScalarType sixteen_bit_type(const at::Device& device, at::ScalarType on_gpus = at::kHalf);
const char* type_name(at::ScalarType type);  // "float32", "bfloat16", "float16"

struct PrecisionOptions {
  at::Device device = at::kCPU;
  harness::Row row = {};  // for its optimizer
};

class Precision {
 public:
  struct Mode {
    bool autocast = false;  // as torch.autocast: operators in the 16-bit type or float32, weights in float32
    bool scales = false;    // dynamic loss scaling
  };
  // type: of the operators, where they have not to be float32.
  Precision(const PrecisionOptions& options, at::ScalarType type, Mode mode)
      : type_(type), optimizer_(make_optimizer(options.row)), autocast_(mode.autocast) {
    if (mode.scales) scaler_.emplace(options.device);
  }
  virtual ~Precision() = default;
  // Converts the weights in place. Called once for the model and each replica, before a strategy or optimizer
  // uses it.
  virtual void convert(Model& model) const {}
  // Runs a forward pass in this mode. x: images, N x 3 x H x W, any floating-point type, or what the units
  // before returned. Returns float32 logits, N x classes, or what the last of these units returns.
  // Thread-safe for different models, and for different units of one.
  at::Tensor forward(Model& model, const at::Tensor& x, const Units& part = {}) const {
    const at::Tensor y = compute(model, x, part);
    return part.end < model.units() ? y : y.to(at::kFloat);
  }
  // The type to which forward() converts the images.
  at::ScalarType image_type() const { return type_; }
  // Multiplies the loss by the loss scale; call backward() on the result.
  at::Tensor scale_loss(const at::Tensor& loss) const { return scaler_ ? scaler_->scale(loss) : loss; }
  // Optimizer step: updates model.parameters() from their gradients, then clears these. Throws
  // std::logic_error if a gradient is missing.
  virtual void step(Model& model);
  // Name of the 16-bit type in use; empty if everything is float32.
  std::string sixteen_bit() const { return type_ == at::kFloat ? "" : type_name(type_); }

 protected:
  // The optimizer's step with gradients of the scaled loss, which it unscales in place; none if one isn't
  // finite.
  void update(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients);

  const at::ScalarType type_;

 private:
  virtual at::Tensor compute(Model& model, const at::Tensor& x, const Units& part) const;

  const std::unique_ptr<Optimizer> optimizer_;
  const bool autocast_;
  std::optional<GradScaler> scaler_;
};

using PrecisionFactory = std::function<std::unique_ptr<Precision>(const PrecisionOptions&)>;
using PrecisionRegistry = Registry<PrecisionFactory>;

}  // namespace bench
