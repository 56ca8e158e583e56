#include "bench/train/optimizer/optimizer.h"

#include <algorithm>

namespace bench {

OptimizerOptions optimizer_options(const harness::Row& row) {
  return {row.learning_rate, row.momentum, row.weight_decay, row.fused_sgd, row.optimizer};
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options) {
  return OptimizerRegistry::instance().find(options.name)(options);
}

bool fused_works(const std::vector<at::Tensor>& parameters) {
  return std::all_of(parameters.begin(), parameters.end(),
                     [](const at::Tensor& p) { return !p.is_cpu() || p.scalar_type() == at::kFloat; });
}

}  // namespace bench
