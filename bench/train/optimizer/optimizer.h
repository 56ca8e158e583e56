// Optimizers: each is one file in this folder.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/registry/registry.h"
#include "bench/train/optimizer/schedule.h"
#include "harness/contract/row.h"

namespace bench {

struct OptimizerOptions {
  double learning_rate, momentum, weight_decay;
  bool fused = true;  // fused kernel; false: foreach operators, as in PyTorch
  std::string name = "sgd";
  LearningRateSchedule schedule = {};
  // In step number `step`, from 0; steps that found infinities count too.
  double rate(int64_t step) const { return learning_rate * schedule.factor(step); }
};
OptimizerOptions optimizer_options(const harness::Row& row);

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Pass the same parameters at every call and one gradient of the same type for each; state is created in
  // the first step. found_inf, if defined: float32, one element; 1 skips the update (a fused kernel reads
  // it on the device; otherwise the host reads it, which waits for the device).
  virtual void step(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients,
                    const at::Tensor& found_inf = {}) = 0;
};

using OptimizerFactory = std::function<std::unique_ptr<Optimizer>(const OptimizerOptions&)>;
using OptimizerRegistry = Registry<OptimizerFactory>;
// Throws std::invalid_argument for an unknown name.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options);

// LibTorch 2.11's fused optimizers on CPU update only the last n mod 16 elements of 16-bit tensors, so these
// use plain operators. tests/train/optimizer_test.cpp detects when a newer LibTorch has fixed it.
bool fused_works(const std::vector<at::Tensor>& parameters);

}  // namespace bench
