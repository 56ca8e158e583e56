// Dynamic loss scaling as torch.amp.GradScaler: starts at 65536, x2 after 2000 good steps, x0.5 after a bad
// one.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace bench {

class GradScaler {
 public:
  explicit GradScaler(at::Device device);
  at::Tensor scale(const at::Tensor& loss) const;
  // Divides the gradients by the scale in place (types may differ) and sets found_inf() if one is not finite.
  void unscale(const std::vector<at::Tensor>& gradients);
  const at::Tensor& found_inf() const { return found_inf_; }  // float32, one element; 1: skip this step
  void update();                                              // call after the optimizer's step

 private:
  at::Tensor scale_, growth_tracker_, found_inf_;
};

}  // namespace bench
