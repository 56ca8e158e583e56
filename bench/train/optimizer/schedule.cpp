// The learning rate of a step: linear warm-up, then constant, two drops to a tenth, or half a cosine.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "bench/train/optimizer/optimizer.h"

namespace bench {

double learning_rate(const harness::Row& row, int64_t step) {
  constexpr double kFirst = 0.01, kDrop = 0.1;
  const std::string& schedule = row.learning_rate_schedule;
  if (schedule != "constant" && schedule != "step" && schedule != "cosine")
    throw std::invalid_argument("learning_rate_schedule: expected constant, step or cosine, found " +
                                schedule);
  const int64_t warmup = row.learning_rate_warmup;
  const int64_t all = std::max<int64_t>(1, row.warmup_batches + row.timed_batches - warmup),
                done = std::min(step - warmup, all - 1);
  double factor = 1;
  if (step < warmup)
    factor = kFirst + (1 - kFirst) * double(step) / double(warmup);
  else if (schedule == "step")
    factor = std::pow(kDrop, double(done / ((all + 2) / 3)));
  else if (schedule == "cosine")
    factor = (1 + std::cos(std::numbers::pi * double(done) / double(all))) / 2;
  return row.learning_rate * factor;
}

}  // namespace bench
