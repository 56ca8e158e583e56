// Learning-rate schedules, as factors of the row field `learning_rate`; PyTorch's formulas
// (torch.optim.lr_scheduler).
#pragma once
#include <cstdint>

#include "harness/contract/row.h"

namespace bench {

struct LearningRateSchedule {
  // constant  1
  // step      StepLR: a tenth after each third of the steps, rounded up (PyTorch's ImageNet example: 30 of 90
  //           epochs)
  // cosine    CosineAnnealingLR with eta_min 0: half a cosine over all steps
  enum class Kind { constant, step, cosine };
  Kind kind = Kind::constant;
  int64_t steps = 1;  // of training, those of the warm-up included
  // First steps, in which the factor rises from a hundredth (LinearLR); then the kind begins (SequentialLR).
  int64_t warmup = 0;

  double factor(int64_t step) const;  // step: from 0; after the last: as in the last
};

// Of the row's fields; steps: its batches of warm-up and window. Throws std::invalid_argument for an unknown
// schedule.
LearningRateSchedule learning_rate_schedule(const harness::Row& row);

}  // namespace bench
