// SGD with momentum and weight decay, PyTorch's formula (torch.optim.SGD, dampening 0, no Nesterov):
// g += decay * p;  m = momentum * m + g (m = g in the first step);  p -= rate * m.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros_like.h>

#include "bench/train/optimizer/optimizer.h"

namespace bench {
namespace {

using Tensors = std::vector<at::Tensor>;

class Sgd : public Optimizer {
 public:
  explicit Sgd(const harness::Row& row) : row_(row) {}

  void step(const Tensors& parameters, const Tensors& gradients, const at::Tensor& found_inf) override {
    at::NoGradGuard no_grad;
    if (first_ && row_.momentum != 0)
      for (const at::Tensor& parameter : parameters) momenta_.push_back(at::zeros_like(parameter.detach()));
    first_ = false;
    rate_ = learning_rate(row_, calls_++);
    if (row_.fused_sgd && fused_works(parameters))
      at::_fused_sgd_(parameters, gradients, momenta_, row_.weight_decay, row_.momentum, rate_,
                      /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false, {},
                      found_inf.defined() ? std::optional<at::Tensor>(found_inf) : std::nullopt);
    else if (!found_inf.defined() || found_inf.item<float>() == 0)
      plain_step(parameters, gradients);
  }

 private:
  void plain_step(const Tensors& parameters, const Tensors& gradients) const {
    Tensors change = gradients;
    if (row_.weight_decay != 0) change = at::_foreach_add(change, parameters, row_.weight_decay);
    if (row_.momentum != 0) {
      at::_foreach_mul_(momenta_, row_.momentum);  // m = 0 before the first step, so m = g there
      at::_foreach_add_(momenta_, change);
      change = momenta_;
    }
    at::_foreach_add_(parameters, change, -rate_);
  }

  const harness::Row row_;
  Tensors momenta_;
  bool first_ = true;
  int64_t calls_ = 0;  // of step()
  double rate_ = 0;    // of this step
};

const bool registered_optimizer_sgd =
    OptimizerRegistry::instance().add({"optimizer", "sgd", "SGD with momentum"},
                                      [](const harness::Row& row) { return std::make_unique<Sgd>(row); });

}  // namespace
}  // namespace bench
