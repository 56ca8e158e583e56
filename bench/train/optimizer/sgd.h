// SGD with momentum and weight decay, PyTorch's formula (torch.optim.SGD, dampening 0, no Nesterov):
// g += decay * p;  m = momentum * m + g (m = g in the first step);  p -= rate * m.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace bench {

struct SgdOptions {
  double learning_rate, momentum, weight_decay;
  bool fused = true;  // fused kernel; false: foreach operators, as in PyTorch
};

class Sgd {
 public:
  explicit Sgd(const SgdOptions& options) : options_(options) {}
  // Pass the same parameters at every call and one gradient of the same type for each; momenta are created in
  // the first step. found_inf, if defined: float32, one element; 1 skips the update (the fused kernel reads
  // it on the device; otherwise the host reads it, which waits for the device).
  void step(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients,
            const at::Tensor& found_inf = {});

 private:
  SgdOptions options_;
  std::vector<at::Tensor> momenta_;
  bool first_ = true;
};

}  // namespace bench
