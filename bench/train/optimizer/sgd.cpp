#include "bench/train/optimizer/sgd.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

namespace bench {

using Tensors = std::vector<at::Tensor>;

// LibTorch 2.11's fused SGD on CPU updates only the last n mod 16 elements of 16-bit tensors, so these use
// plain operators. tests/optimizer_test.cpp detects when a newer LibTorch has fixed it.
static bool fused_works(const Tensors& parameters) {
  return std::all_of(parameters.begin(), parameters.end(),
                     [](const at::Tensor& p) { return !p.is_cpu() || p.scalar_type() == at::kFloat; });
}

static void plain_step(const Tensors& parameters, const Tensors& gradients, const Tensors& momenta,
                       const SgdOptions& options) {
  Tensors change = gradients;
  if (options.weight_decay != 0) change = at::_foreach_add(change, parameters, options.weight_decay);
  if (options.momentum != 0) {
    at::_foreach_mul_(momenta, options.momentum);  // m = 0 before the first step, so m = g there
    at::_foreach_add_(momenta, change);
    change = momenta;
  }
  at::_foreach_add_(parameters, change, -options.learning_rate);
}

void Sgd::step(const Tensors& parameters, const Tensors& gradients, const at::Tensor& found_inf) {
  at::NoGradGuard no_grad;
  if (first_ && options_.momentum != 0)
    for (const at::Tensor& parameter : parameters) momenta_.push_back(at::zeros_like(parameter.detach()));
  first_ = false;
  if (options_.fused && fused_works(parameters))
    at::_fused_sgd_(parameters, gradients, momenta_, options_.weight_decay, options_.momentum,
                    options_.learning_rate,
                    /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false, {},
                    found_inf.defined() ? std::optional<at::Tensor>(found_inf) : std::nullopt);
  else if (!found_inf.defined() || found_inf.item<float>() == 0)
    plain_step(parameters, gradients, momenta_, options_);
}

}  // namespace bench
