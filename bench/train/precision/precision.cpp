// The optimizer step with and without loss scaling, autocast, and the 16-bit type of each device.
#include "bench/train/precision/precision.h"

#include <ATen/autocast_mode.h>
#include <c10/util/ScopeExit.h>

#include "bench/train/precision/in_float32.h"

namespace bench {

at::ScalarType sixteen_bit_type(const at::Device& device, at::ScalarType on_gpus) {
  if (!device.is_cpu()) return on_gpus;
  computes_in_float32();  // from now on, if it must
  return at::kBFloat16;
}

const char* type_name(at::ScalarType type) {
  return type == at::kBFloat16 ? "bfloat16"
         : type == at::kHalf   ? "float16"
         : type == at::kDouble ? "float64"
         : type == at::kLong   ? "int64"
                               : "float32";
}

void Precision::step(Model& model) {
  update(model.parameter_tensors(), model.gradient_tensors());
  model.clear_gradients();
}

void Precision::update(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients) {
  if (!scaler_) return optimizer_->step(parameters, gradients);
  scaler_->unscale(gradients);
  optimizer_->step(parameters, gradients, scaler_->found_inf());
  scaler_->update();
}

at::Tensor Precision::compute(Model& model, const at::Tensor& x, const Units& part) const {
  if (!autocast_) return model.forward(x.to(type_), part);
  const at::DeviceType device = x.device().type();
  const auto as_before = c10::make_scope_exit([device, type = at::autocast::get_autocast_dtype(device),
                                               enabled = at::autocast::is_autocast_enabled(device)] {
    // The cache holds 16-bit copies of the weights, which are stale after the next optimizer step.
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(device, type);
    at::autocast::set_autocast_enabled(device, enabled);
  });
  at::autocast::set_autocast_dtype(device, type_);  // of the calling thread
  at::autocast::set_autocast_enabled(device, true);
  at::autocast::increment_nesting();
  return model.forward(x, part);
}

}  // namespace bench
