// unit: the schedule of emulated gradients: each reduced once, by all ranks, before its step.
#include "bench/train/timeline/gradient_order.h"

#include <gtest/gtest.h>

namespace bench::gradient_order_test {

constexpr int64_t kWeights = 100, kSyncBn = 10;

TEST(GradientOrder, BucketsOfAnySizeInAnyOrderAreRight) {
  GradientOrder order;
  for (int step = 0; step < 3; ++step) {
    order.reduced(30, 100 * step + 10);
    order.reduced(70, 100 * step + 40);
    order.stepped(60, 100 * step + 40);  // two groups of weights
    order.stepped(40, 100 * step + 50);
  }
  EXPECT_EQ(order.violation(kWeights, 0), "");
  EXPECT_NE(order.violation(kWeights, kSyncBn), "") << "SyncBN's sums are missing";
}

TEST(GradientOrder, SyncBnsSumsAreNoGradients) {
  GradientOrder order;
  for (int step = 0; step < 3; ++step) {
    order.reduced(kWeights + kSyncBn, 10);
    order.stepped(kWeights, 20);
  }
  EXPECT_EQ(order.violation(kWeights, kSyncBn), "");
  EXPECT_NE(order.violation(kWeights, 7), "");
}

TEST(GradientOrder, AStepBeforeItsReductionIsFound) {
  GradientOrder order;
  order.reduced(70, 10);
  order.stepped(kWeights, 20);
  order.reduced(30, 30);
  EXPECT_NE(order.violation(kWeights, 0).find("30 weights before"), std::string::npos);
}

TEST(GradientOrder, AStepThatBeginsWhileGradientsAreUnderWayIsFound) {
  GradientOrder order;
  order.reduced(kWeights, 2'000'000);
  order.stepped(kWeights, 1'500'000);
  EXPECT_NE(order.violation(kWeights, 0).find("0.500 ms before"), std::string::npos);
}

TEST(GradientOrder, GradientsThatAreReducedTwiceAreFound) {
  GradientOrder order;
  order.reduced(kWeights, 10);
  order.reduced(kWeights, 20);
  order.stepped(kWeights, 30);
  EXPECT_NE(order.violation(kWeights, 0).find("200 elements were reduced in 1 steps"), std::string::npos);
}

TEST(GradientOrder, WarmUpIsForgottenAtTheWindowsStart) {
  GradientOrder order;
  order.reduced(kWeights, 10);
  order.begin_again();
  order.reduced(kWeights, 20);
  order.stepped(kWeights, 30);
  EXPECT_EQ(order.violation(kWeights, 0), "");
}

}  // namespace bench::gradient_order_test
