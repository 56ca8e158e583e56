// unit: phases become ranges that are named when they begin: by the batch before, and never one left open
#include "bench/phase_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace bench {
namespace {

using Names = std::vector<std::string>;

// Remembers what was begun, and refuses to end anything twice.
class Recorded : public Ranges {
 public:
  uint64_t begin(const char* name) override {
    begun.push_back(name);
    open[++last_] = name;
    most_open = std::max(most_open, open.size());
    return last_;
  }
  void end(uint64_t range) override { EXPECT_EQ(open.erase(range), 1u); }
  Names names_open() const {
    Names names;
    for (const auto& [range, name] : open) names.push_back(name);
    return names;
  }
  Names take_begun() { return std::exchange(begun, {}); }

  Names begun;
  std::map<uint64_t, std::string> open;
  size_t most_open = 0;

 private:
  uint64_t last_ = 0;
};

class PhaseRangesTest : public testing::Test {
 protected:
  void batch(const std::vector<Phase>& phases) {
    for (const Phase phase : phases) clock.close(phase);
    clock.close(Phase::other);
    clock.next_batch();
  }
  Recorded recorded;
  PhaseRanges clock{recorded, 100};
  const std::vector<Phase> usual = {Phase::load, Phase::h2d, Phase::load, Phase::forward, Phase::backward};
};

TEST_F(PhaseRangesTest, TheFirstBatchIsWhole) {
  clock.start();
  clock.close(Phase::load);
  clock.close(Phase::h2d);
  EXPECT_EQ(recorded.names_open(), Names{"batch 0"});
  EXPECT_EQ(recorded.begun, Names{"batch 0"});
}

TEST_F(PhaseRangesTest, TheNextAreNamedByTheOneBefore) {
  clock.start();
  batch(usual);
  EXPECT_EQ(recorded.names_open(), (Names{"batch 1", "load"}));
  recorded.take_begun();
  batch(usual);
  EXPECT_EQ(recorded.take_begun(), (Names{"h2d", "load", "forward", "backward", "other", "batch 2", "load"}));
  EXPECT_EQ(recorded.most_open, 2u);
}

TEST_F(PhaseRangesTest, TheWindowsStartBeginsTheBatchAgain) {
  clock.start();
  batch(usual);
  recorded.take_begun();
  clock.start();
  EXPECT_EQ(recorded.take_begun(), (Names{"batch 1", "load"}));
  EXPECT_EQ(recorded.names_open(), (Names{"batch 1", "load"}));
}

TEST_F(PhaseRangesTest, AnotherOrderIsNamedAgainAsSoonAsItIsKnown) {
  clock.start();
  batch(usual);
  recorded.take_begun();
  clock.close(Phase::other);  // what opened as `load`
  EXPECT_EQ(recorded.names_open(), Names{"batch 1"});
  batch(usual);
  EXPECT_EQ(recorded.take_begun(),
            (Names{"h2d", "load", "forward", "backward", "other", "batch 2", "other"}));
  batch({Phase::gather});
  EXPECT_EQ(recorded.names_open(), (Names{"batch 3", "gather"}));
}

TEST_F(PhaseRangesTest, ANotedEndEndsTheRangeAtOnce) {
  clock.start();
  const std::vector<Phase> phases = {Phase::forward, Phase::backward, Phase::sync};
  batch(phases);
  clock.close(Phase::forward);
  EXPECT_EQ(recorded.names_open(), (Names{"batch 1", "backward"}));
  clock.note_boundary();
  EXPECT_EQ(recorded.names_open(), (Names{"batch 1", "sync"}));
  clock.note_boundary();
  clock.close(Phase::backward);
  EXPECT_EQ(recorded.names_open(), (Names{"batch 1", "sync"}));
  clock.close(Phase::sync);
  EXPECT_EQ(recorded.names_open(), (Names{"batch 1", "other"}));
  clock.close(Phase::other);
  clock.next_batch();
  recorded.take_begun();
  batch(phases);
  EXPECT_EQ(recorded.take_begun(), (Names{"backward", "sync", "other", "batch 3", "forward"}));
}

TEST_F(PhaseRangesTest, ANotedEndOfAnotherPhaseIsPutRight) {
  clock.start();
  batch({Phase::forward, Phase::loss, Phase::backward, Phase::sync});
  clock.close(Phase::forward);
  clock.note_boundary();  // `loss` is expected, and `backward` ends
  clock.close(Phase::backward);
  EXPECT_EQ(recorded.names_open(), (Names{"batch 1", "sync"}));
  clock.note_boundary();
  clock.next_batch();  // never closed
  EXPECT_EQ(recorded.names_open(), (Names{"batch 2", "forward"}));
}

TEST_F(PhaseRangesTest, NothingIsOpenBeforeTheFirstAndAfterTheLastBatch) {
  {
    PhaseRanges two(recorded, 2);
    EXPECT_TRUE(recorded.open.empty());
    two.note_boundary();
    two.close(Phase::forward);
    EXPECT_TRUE(recorded.open.empty());
    two.start();
    two.close(Phase::other);
    two.next_batch();
    EXPECT_FALSE(recorded.open.empty());
    two.close(Phase::other);
    two.next_batch();
    EXPECT_TRUE(recorded.open.empty());
    two.close(Phase::load);
    EXPECT_TRUE(recorded.open.empty());
  }
  PhaseRanges cut_short(recorded, 2);
  cut_short.start();
}

TEST_F(PhaseRangesTest, WhatIsOpenEndsWithTheClock) {
  {
    PhaseRanges cut_short(recorded, 2);
    cut_short.start();
    EXPECT_EQ(recorded.open.size(), 1u);
  }
  EXPECT_TRUE(recorded.open.empty());
}

}  // namespace
}  // namespace bench
