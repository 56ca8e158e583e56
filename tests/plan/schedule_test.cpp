// train: learning-rate schedules against PyTorch's, and that optimizers step with them
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/train/optimizer/optimizer.h"

namespace bench::schedule_test {

harness::Row row_of(const std::string& schedule, int64_t steps, int64_t warmup) {
  harness::Row row;
  row.learning_rate = 1;
  row.learning_rate_schedule = schedule;
  row.learning_rate_warmup = warmup;
  row.warmup_batches = steps / 4;
  row.timed_batches = steps - row.warmup_batches;
  return row;
}

// tests/golden/make_schedules.py.
TEST(Schedule, IsPyTorchsInEveryStep) {
  std::ifstream file(SOURCE_DIR "/tests/golden/schedules.csv");
  std::string name, steps, warmup, step, rate;
  std::getline(file, name);  // the header
  int compared = 0;
  while (std::getline(file, name, ',') && std::getline(file, steps, ',') && std::getline(file, warmup, ',') &&
         std::getline(file, step, ',') && std::getline(file, rate)) {
    const auto row = row_of(name, std::stoll(steps), std::stoll(warmup));
    EXPECT_NEAR(learning_rate(row, std::stoll(step)), std::stod(rate), 1e-9)
        << name << " " << warmup << ": " << step;
    ++compared;
  }
  EXPECT_EQ(compared, 3 * (20 + 20 + 1));
}

TEST(Schedule, StaysAtTheLastStepsRateAfterTheEnd) {
  const auto cosine = row_of("cosine", 20, 5);
  EXPECT_GT(learning_rate(cosine, 19), 0);
  EXPECT_EQ(learning_rate(cosine, 25), learning_rate(cosine, 19));
}

TEST(Schedule, OptimizersStepWithItsRateAlsoAfterASkippedStep) {
  for (const char* name : {"sgd", "adam"})
    for (const bool fused : {true, false}) {
      auto row = row_of("cosine", 8, 3);
      row.learning_rate = 0.5;
      row.momentum = row.weight_decay = 0;
      row.fused_sgd = fused;
      row.optimizer = name;
      const auto optimizer = make_optimizer(row);
      at::Tensor weight = at::zeros({3});
      double moved = 0;
      for (int64_t step = 0; step < 8; ++step) {
        const bool skip = step == 4;
        optimizer->step({weight}, {at::ones({3})}, at::full({1}, skip ? 1.0f : 0.0f));
        if (!skip) moved += learning_rate(row, step);  // equal gradients move Adam's weights by the rate
      }
      EXPECT_TRUE(at::allclose(weight, at::full({3}, -moved), 1e-5, 1e-6))
          << name << " fused " << fused << weight << moved;
    }
}

TEST(Schedule, ThatNobodyKnowsIsRefused) {
  EXPECT_THROW(make_optimizer(row_of("linear", 4, 0)), std::invalid_argument);
}

}  // namespace bench::schedule_test
