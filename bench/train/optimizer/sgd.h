// SGD with momentum and weight decay, PyTorch's formula (torch.optim.SGD, dampening 0, no Nesterov):
// g += decay * p;  m = momentum * m + g (m = g in the first step);  p -= rate * m.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace bench {

struct SgdOptions {
  double learning_rate, momentum, weight_decay;
  bool fused = true;  // one kernel; else an operation at a time over all tensors, as PyTorch's foreach has it
};

class Sgd {
 public:
  explicit Sgd(const SgdOptions& options) : options_(options) {}
  // The same parameters at every call, and one gradient for each, of its type; momenta are made in the first
  // step. found_inf, if defined: a float tensor of one element; 1 skips the update (the fused kernel looks at
  // it on the device; else the host reads it, and waits for the device).
  void step(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients,
            const at::Tensor& found_inf = {});

 private:
  SgdOptions options_;
  std::vector<at::Tensor> momenta_;
  bool first_ = true;
};

}  // namespace bench
