// Adam, PyTorch's formula (torch.optim.Adam; Kingma and Ba 2014, arXiv 1412.6980), with its default betas and
// epsilon: g += decay * p;  m += (1 - beta1) (g - m);  v = beta2 * v + (1 - beta2) g^2; p -= rate / (1 -
// beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon), t: steps taken, this one included.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_foreach_sub.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "bench/train/optimizer/optimizer.h"

namespace bench {
namespace {

using Tensors = std::vector<at::Tensor>;
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kAdamEpsilon = 1e-8;

class Adam : public Optimizer {
 public:
  explicit Adam(const harness::Row& row) : row_(row) {}

  void step(const Tensors& parameters, const Tensors& gradients, const at::Tensor& found_inf) override {
    at::NoGradGuard no_grad;
    rate_ = learning_rate(row_, calls_++);
    for (size_t i = means_.size(); i < parameters.size(); ++i) {
      const at::Tensor weight = parameters[i].detach();
      means_.push_back(at::zeros_like(weight));
      squares_.push_back(at::zeros_like(weight));
      steps_.push_back(at::zeros({}, weight.options().dtype(at::kFloat)));
    }
    if (row_.fused_sgd && fused_works(parameters))
      fused_step(parameters, gradients, found_inf);
    else if (!found_inf.defined() || found_inf.item<float>() == 0)
      plain_step(parameters, gradients);
  }

 private:
  void fused_step(const Tensors& parameters, const Tensors& gradients, const at::Tensor& found_inf) {
    const auto skip = found_inf.defined() ? std::optional<at::Tensor>(found_inf) : std::nullopt;
    at::_foreach_add_(steps_, 1);
    at::_fused_adam_(parameters, gradients, means_, squares_, /*max_exp_avg_sqs=*/{}, steps_, rate_, kBeta1,
                     kBeta2, row_.weight_decay, kAdamEpsilon,
                     /*amsgrad=*/false,
                     /*maximize=*/false, /*grad_scale=*/{}, skip);
    if (skip) at::_foreach_sub_(steps_, Tensors(steps_.size(), found_inf.reshape({})));
  }

  void plain_step(const Tensors& parameters, const Tensors& gradients) {
    ++taken_;
    Tensors change = gradients;
    if (row_.weight_decay != 0) change = at::_foreach_add(change, parameters, row_.weight_decay);
    at::_foreach_lerp_(means_, change, 1 - kBeta1);
    at::_foreach_mul_(squares_, kBeta2);
    at::_foreach_addcmul_(squares_, change, change, 1 - kBeta2);
    Tensors divisors = at::_foreach_sqrt(squares_);
    at::_foreach_div_(divisors, std::sqrt(1 - std::pow(kBeta2, double(taken_))));
    at::_foreach_add_(divisors, kAdamEpsilon);
    at::_foreach_addcdiv_(parameters, means_, divisors, -rate_ / (1 - std::pow(kBeta1, double(taken_))));
  }

  const harness::Row row_;
  Tensors means_, squares_;  // of gradients; in the type of the weights
  Tensors steps_;            // one number per weight, on its device: the fused kernel's count
  int64_t taken_ = 0;        // the plain operators' count
  int64_t calls_ = 0;        // of step()
  double rate_ = 0;          // of this step
};

const bool registered_optimizer_adam =
    OptimizerRegistry::instance().add({"optimizer", "adam", "Adam with PyTorch's default betas and epsilon"},
                                      [](const harness::Row& row) { return std::make_unique<Adam>(row); });

}  // namespace
}  // namespace bench
