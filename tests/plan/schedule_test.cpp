// train: learning-rate schedules against PyTorch's, and that optimizers step with them
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/train/optimizer/optimizer.h"

namespace bench::schedule_test {

LearningRateSchedule schedule_of(const std::string& name, int64_t steps, int64_t warmup) {
  harness::Row row;
  row.learning_rate_schedule = name;
  row.learning_rate_warmup = warmup;
  row.warmup_batches = steps / 4;
  row.timed_batches = steps - row.warmup_batches;
  return learning_rate_schedule(row);
}

// tests/golden/make_schedules.py.
TEST(Schedule, IsPyTorchsInEveryStep) {
  std::ifstream file(SOURCE_DIR "/tests/golden/schedules.csv");
  std::string name, steps, warmup, step, rate;
  std::getline(file, name);  // the header
  int compared = 0;
  while (std::getline(file, name, ',') && std::getline(file, steps, ',') && std::getline(file, warmup, ',') &&
         std::getline(file, step, ',') && std::getline(file, rate)) {
    const auto schedule = schedule_of(name, std::stoll(steps), std::stoll(warmup));
    EXPECT_NEAR(schedule.factor(std::stoll(step)), std::stod(rate), 1e-9)
        << name << " " << warmup << ": " << step;
    ++compared;
  }
  EXPECT_EQ(compared, 3 * (20 + 20 + 1));
}

TEST(Schedule, StaysAtTheLastStepsRateAfterTheEnd) {
  const auto cosine = schedule_of("cosine", 20, 5);
  EXPECT_GT(cosine.factor(19), 0);
  EXPECT_EQ(cosine.factor(25), cosine.factor(19));
}

TEST(Schedule, OptimizersStepWithItsRateAlsoAfterASkippedStep) {
  for (const char* name : {"sgd", "adam"})
    for (const bool fused : {true, false}) {
      const auto schedule = schedule_of("cosine", 8, 3);
      const auto optimizer = make_optimizer({0.5, 0, 0, fused, name, schedule});
      at::Tensor weight = at::zeros({3});
      double moved = 0;
      for (int64_t step = 0; step < 8; ++step) {
        const bool skip = step == 4;
        optimizer->step({weight}, {at::ones({3})}, at::full({1}, skip ? 1.0f : 0.0f));
        if (!skip) moved += 0.5 * schedule.factor(step);  // equal gradients move Adam's weights by the rate
      }
      EXPECT_TRUE(at::allclose(weight, at::full({3}, -moved), 1e-5, 1e-6))
          << name << " fused " << fused << weight << moved;
    }
}

TEST(Schedule, ThatNobodyKnowsIsRefused) { EXPECT_THROW(schedule_of("linear", 4, 0), std::invalid_argument); }

}  // namespace bench::schedule_test
