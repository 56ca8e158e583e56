// Dynamic loss scaling as torch.amp.GradScaler does it: start 65536, x2 after 2000 good steps, x0.5 after a
// bad one.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace bench {

class GradScaler {
 public:
  explicit GradScaler(at::Device device, double initial_scale = 65536);
  at::Tensor scale(const at::Tensor& loss) const;
  // Divides the gradients by the scale in place (any mix of types) and notes whether one is not finite.
  void unscale(const std::vector<at::Tensor>& gradients);
  const at::Tensor& found_inf() const { return found_inf_; }  // float, one element: 1 means skip this step
  void update();                                              // after the optimizer's step
  double current_scale() const;

 private:
  at::Tensor scale_, growth_tracker_, found_inf_;
};

}  // namespace bench
