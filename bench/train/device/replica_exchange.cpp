// Copies tensors between devices with LibTorch and sums the gradients one replica after another.
#include "bench/train/device/replica_exchange.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>

namespace bench {
namespace {

class PlainExchange : public ReplicaExchange {
 public:
  explicit PlainExchange(const std::vector<Model*>& models) : models_(models) {}

  void broadcast() override {
    for (size_t i = 1; i < models_.size(); ++i) models_[i]->copy_values_of(*models_[0]);
  }

  void reduce() override {
    at::NoGradGuard no_grad;
    const auto total = models_[0]->gradient_tensors();
    for (size_t i = 1; i < models_.size(); ++i) {
      std::vector<at::Tensor> gradients = models_[i]->gradient_tensors();
      for (size_t k = 0; k < total.size(); ++k)
        gradients[k] = gradients[k].to(total[k].device(), /*non_blocking=*/true);
      at::_foreach_add_(total, gradients);
      models_[i]->clear_gradients();
    }
  }

 private:
  std::vector<Model*> models_;
};

}  // namespace

std::unique_ptr<ReplicaExchange> make_plain_exchange(const std::vector<Model*>& models) {
  return std::make_unique<PlainExchange>(models);
}

}  // namespace bench
