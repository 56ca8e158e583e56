// Optimizers: each is one file in this folder.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/registry/registry.h"
#include "harness/contract/row.h"

namespace bench {

// The row's learning rate in step number `step`, from 0; steps that found infinities count too. After the
// last batch: as in that. In the first `learning_rate_warmup` steps it rises from a hundredth (LinearLR),
// then the `learning_rate_schedule` begins (SequentialLR), of PyTorch's torch.optim.lr_scheduler:
//   constant  `learning_rate`
//   step      StepLR: a tenth after each third of the steps, rounded up (PyTorch's ImageNet example: 30 of 90
//             epochs)
//   cosine    CosineAnnealingLR with eta_min 0: half a cosine over all steps
// Throws std::invalid_argument for an unknown schedule.
double learning_rate(const harness::Row& row, int64_t step);

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Pass the same parameters at every call and one gradient of the same type for each; state is created in
  // the first step. found_inf, if defined: float32, one element; 1 skips the update (a fused kernel reads
  // it on the device; otherwise the host reads it, which waits for the device).
  virtual void step(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients,
                    const at::Tensor& found_inf = {}) = 0;
};

using OptimizerFactory = std::function<std::unique_ptr<Optimizer>(const harness::Row&)>;
using OptimizerRegistry = Registry<OptimizerFactory>;
// Of a copy of the row. Throws std::invalid_argument for an unknown optimizer or schedule.
std::unique_ptr<Optimizer> make_optimizer(const harness::Row& row);

// LibTorch 2.11's fused optimizers on CPU update only the last n mod 16 elements of 16-bit tensors, so these
// use plain operators. tests/train/optimizer_test.cpp detects when a newer LibTorch has fixed it.
bool fused_works(const std::vector<at::Tensor>& parameters);

}  // namespace bench
