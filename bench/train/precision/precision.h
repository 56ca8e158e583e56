// What number formats weights, activations and the optimizer use. One mode is one file in this folder; the
// names O0-O3 are those of NVIDIA APEX's opt_level, whose semantics they follow.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>

#include "bench/registry/registry.h"
#include "bench/train/model/resnet.h"
#include "bench/train/optimizer/sgd.h"

namespace bench {

// The 16-bit type of a device: bfloat16 on a CPU (half is 16 times slower there), half on CUDA.
at::ScalarType sixteen_bit_type(const at::Device& device);
const char* type_name(at::ScalarType type);  // "float32", "bfloat16", "float16"

class Precision {
 public:
  virtual ~Precision() = default;
  // The types of the weights. Called once for the model and for each replica, before a strategy or optimizer
  // sees it.
  virtual void convert(ResNet& model) const {}
  // Runs a forward pass in this mode; called by every thread that runs one. Returns float32 logits.
  virtual at::Tensor forward(ResNet& model, const at::Tensor& images) const = 0;
  // What forward() turns images into first.
  virtual at::ScalarType image_type() const { return at::kFloat; }
  // The loss that backward starts from.
  virtual at::Tensor scale_loss(const at::Tensor& loss) const { return loss; }
  // From the gradients of model.parameters() to new weights, then clears the gradients.
  virtual void step(ResNet& model) = 0;
  // The 16-bit type really used; empty when everything is float32.
  virtual std::string sixteen_bit() const { return ""; }
};

struct PrecisionOptions {
  at::Device device = at::kCPU;
  SgdOptions sgd;
};

using PrecisionFactory = std::function<std::unique_ptr<Precision>(const PrecisionOptions&)>;
using PrecisionRegistry = Registry<PrecisionFactory>;

}  // namespace bench
