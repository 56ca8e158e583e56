// Uses the kernels behind PyTorch's own scaler; gradients on several devices share one overflow flag.
#include "bench/train/optimizer/grad_scaler.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceGuard.h>

#include <map>
#include <utility>

namespace bench {

GradScaler::GradScaler(at::Device device)
    : scale_(at::full({1}, 65536.0, at::TensorOptions(at::kFloat).device(device))),
      growth_tracker_(at::zeros({1}, at::TensorOptions(at::kInt).device(device))),
      found_inf_(at::zeros({1}, at::TensorOptions(at::kFloat).device(device))) {}

at::Tensor GradScaler::scale(const at::Tensor& loss) const { return loss.mul(scale_); }

void GradScaler::unscale(const std::vector<at::Tensor>& gradients) {
  at::NoGradGuard no_grad;
  found_inf_.zero_();
  const at::Tensor inverse = scale_.reciprocal();
  // One kernel call takes gradients of one type and device.
  std::map<std::pair<int, at::ScalarType>, std::vector<at::Tensor>> groups;
  for (const at::Tensor& gradient : gradients)
    groups[{gradient.device().index(), gradient.scalar_type()}].push_back(gradient);
  for (auto& [kind, group] : groups) {
    const at::Device device = group[0].device();
    const c10::OptionalDeviceGuard guard(device);
    if (device == found_inf_.device()) {
      at::_amp_foreach_non_finite_check_and_unscale_(group, found_inf_, inverse);
    } else {
      at::Tensor found_there = at::zeros_like(found_inf_, found_inf_.options().device(device));
      at::_amp_foreach_non_finite_check_and_unscale_(group, found_there, inverse.to(device));
      found_inf_.add_(found_there.to(found_inf_.device())).clamp_max_(1);
    }
  }
}

void GradScaler::update() {
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf_, /*growth=*/2.0, /*backoff=*/0.5,
                         /*interval=*/2000);
}

}  // namespace bench
