// Computes the factor of a step: linear warm-up, then constant, two drops to a tenth, or half a cosine.
#include "bench/train/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace bench {

double LearningRateSchedule::factor(int64_t step) const {
  constexpr double kFirst = 0.01, kDrop = 0.1;
  if (step < warmup) return kFirst + (1 - kFirst) * double(step) / double(warmup);
  const int64_t all = std::max<int64_t>(1, steps - warmup), done = std::min(step - warmup, all - 1);
  switch (kind) {
    case Kind::step: {
      const int64_t drops = done / ((all + 2) / 3);
      return std::pow(kDrop, double(drops));
    }
    case Kind::cosine:
      return (1 + std::cos(std::numbers::pi * double(done) / double(all))) / 2;
    case Kind::constant:
      break;
  }
  return 1;
}

LearningRateSchedule learning_rate_schedule(const harness::Row& row) {
  using Kind = LearningRateSchedule::Kind;
  LearningRateSchedule schedule{Kind::constant, row.warmup_batches + row.timed_batches,
                                row.learning_rate_warmup};
  const std::string& name = row.learning_rate_schedule;
  if (name == "step")
    schedule.kind = Kind::step;
  else if (name == "cosine")
    schedule.kind = Kind::cosine;
  else if (name != "constant")
    throw std::invalid_argument("learning_rate_schedule: expected constant, step or cosine, found " + name);
  return schedule;
}

}  // namespace bench
