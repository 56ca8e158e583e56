// unit: a profiler's ranges: batches and their phases, named when they begin, and none left open
#include "bench/train/clock/phase_ranges.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace bench::phase_ranges_test {

// Records the ranges in order of their start; fails if one is ended twice.
struct Profiler {
  std::vector<std::string> begun;
  std::map<uint64_t, std::string> open;  // by number, so the batch is first
  PhaseRanges ranges{[this](const char* name) {
                       begun.push_back(name);
                       open[begun.size()] = name;
                       EXPECT_LE(open.size(), 2u);
                       return begun.size();
                     },
                     [this](uint64_t range) { EXPECT_EQ(open.erase(range), 1u); }};
};

TEST(PhaseRanges, EveryBatchHasItsPhases) {
  Profiler profiler;
  profiler.ranges.start();
  EXPECT_TRUE(profiler.open.empty());
  for (int batch = 0; batch < 2; ++batch) {
    profiler.ranges.enter(Phase::load);
    profiler.ranges.enter(Phase::sync);
    EXPECT_EQ(profiler.open.begin()->second, "batch " + std::to_string(batch));
    EXPECT_EQ(profiler.open.rbegin()->second, "sync");
    profiler.ranges.next_batch();
    EXPECT_TRUE(profiler.open.empty());
  }
  EXPECT_EQ(profiler.begun, (std::vector<std::string>{"batch 0", "load", "sync", "batch 1", "load", "sync"}));
}

TEST(PhaseRanges, TheWindowsStartBeginsTheBatchAgain) {
  Profiler profiler;
  profiler.ranges.enter(Phase::other);
  profiler.ranges.start();
  profiler.ranges.enter(Phase::load);
  EXPECT_EQ(profiler.begun, (std::vector<std::string>{"batch 0", "other", "batch 0", "load"}));
}

TEST(PhaseRanges, WhatIsOpenEndsWithTheClock) {
  int open = 0;
  {
    PhaseRanges ranges([&](const char*) { return ++open; }, [&](uint64_t) { --open; });
    ranges.enter(Phase::load);
    EXPECT_EQ(open, 2);
  }
  EXPECT_EQ(open, 0);
}

}  // namespace bench::phase_ranges_test
