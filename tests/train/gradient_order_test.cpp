// unit: the schedule of emulated gradients: each reduced once, by all ranks, before its step.
#include "bench/train/timeline/gradient_order.h"

#include <gtest/gtest.h>

#include <utility>

namespace bench::gradient_order_test {

constexpr int64_t kWeights = 100, kSyncBn = 10;

TEST(GradientOrder, BucketsOfAnySizeInAnyOrderAreRight) {
  for (const int64_t more : {int64_t{0}, kSyncBn}) {
    GradientOrder order;
    order.begin_again(kWeights, more, 1);
    for (int step = 0; step < 3; ++step) {
      order.reduced(30, 100 * step + 10);
      order.reduced(70, 100 * step + 40);
      order.stepped(60, 100 * step + 40);  // two groups of weights
      order.stepped(40, 100 * step + 50);
    }
    EXPECT_EQ(order.violation() == "", more == 0) << "SyncBN's sums are missing";
  }
}

TEST(GradientOrder, SyncBnsSumsAreNoGradients) {
  for (const int64_t more : {kSyncBn, int64_t{7}}) {
    GradientOrder order;
    order.begin_again(kWeights, more, 1);
    for (int step = 0; step < 3; ++step) {
      order.reduced(kWeights + kSyncBn, 10);
      order.stepped(kWeights, 20);
    }
    EXPECT_EQ(order.violation() == "", more == kSyncBn) << order.violation();
  }
}

TEST(GradientOrder, AStepBeforeItsReductionIsFound) {
  GradientOrder order;
  order.begin_again(kWeights, 0, 1);
  order.reduced(70, 10);
  order.stepped(kWeights, 20);
  order.reduced(30, 30);
  EXPECT_NE(order.violation().find("30 elements were missing"), std::string::npos) << order.violation();
}

// What the first step reduced besides must not stand for gradients of the second.
TEST(GradientOrder, ALaterStepBeforeItsReductionIsFound) {
  for (const auto& [more, times] : {std::pair<int64_t, int64_t>{kWeights, 1}, {0, 2}}) {
    GradientOrder order;
    order.begin_again(kWeights, more, times);
    order.reduced(2 * kWeights, 10);
    order.stepped(kWeights, 20);
    EXPECT_EQ(order.violation(), "");
    order.stepped(kWeights, 30);
    order.reduced(2 * kWeights, 30);
    EXPECT_NE(order.violation().find("200 elements were missing"), std::string::npos) << order.violation();
  }
}

TEST(GradientOrder, AStepThatBeginsWhileGradientsAreUnderWayIsFound) {
  GradientOrder order;
  order.begin_again(kWeights, 0, 1);
  order.reduced(kWeights, 2'000'000);
  order.stepped(kWeights, 1'500'000);
  EXPECT_NE(order.violation().find("0.500 ms before"), std::string::npos);
}

TEST(GradientOrder, GradientsThatAreReducedTwiceAreFound) {
  GradientOrder order;
  order.begin_again(kWeights, 0, 1);
  order.reduced(kWeights, 10);
  order.reduced(kWeights, 20);
  order.stepped(kWeights, 30);
  EXPECT_NE(order.violation().find("200 elements were reduced in 1 steps"), std::string::npos);
}

TEST(GradientOrder, WarmUpIsForgottenAtTheWindowsStart) {
  GradientOrder order;
  order.reduced(kWeights, 10);
  order.begin_again(kWeights, 0, 1);
  order.reduced(kWeights, 20);
  order.stepped(kWeights, 30);
  EXPECT_EQ(order.violation(), "");
}

}  // namespace bench::gradient_order_test
