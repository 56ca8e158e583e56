// unit: epochs are permutations, ranks share them as DistributedSampler does, and the seed decides.
#include "bench/loader/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

namespace bench {
namespace {

std::vector<int64_t> epoch_of(const SamplerOptions& options, int64_t epoch) {
  const Sampler sampler(options);
  std::vector<int64_t> records;
  for (int64_t i = 0; i < sampler.per_epoch(); ++i) {
    const Sample sample = sampler.at(epoch * sampler.per_epoch() + i);
    EXPECT_EQ(sample.epoch, epoch);
    records.push_back(sample.record);
  }
  return records;
}

TEST(Sampler, EveryEpochIsAPermutation) {
  for (const int64_t records : {1, 2, 3, 5, 16, 17, 1000, 4097})
    for (const int64_t epoch : {0, 1, 7}) {
      std::vector<int64_t> order = epoch_of({.records = records}, epoch);
      std::sort(order.begin(), order.end());
      for (int64_t i = 0; i < records; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i) << records;
    }
}

TEST(Sampler, SeedsAndEpochsDiffer) {
  const auto first = epoch_of({.records = 500, .seed = 1}, 0);
  EXPECT_EQ(first, epoch_of({.records = 500, .seed = 1}, 0));
  EXPECT_NE(first, epoch_of({.records = 500, .seed = 2}, 0));
  EXPECT_NE(first, epoch_of({.records = 500, .seed = 1}, 1));
}

TEST(Sampler, UnshuffledIsInOrder) {
  const auto order = epoch_of({.records = 9, .order = Order::in_order}, 3);
  for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Sampler, OrderLooksRandom) {
  // Of a random permutation of n the displacement's mean is n / 3, and neighbours stay neighbours about
  // twice.
  constexpr int64_t kRecords = 10'000;
  const auto order = epoch_of({.records = kRecords}, 0);
  double displacement = 0, neighbours = 0;
  for (int64_t i = 0; i < kRecords; ++i) {
    const auto at = static_cast<size_t>(i);
    displacement += static_cast<double>(std::abs(order[at] - i));
    if (i > 0 && std::abs(order[at] - order[at - 1]) == 1) ++neighbours;
  }
  EXPECT_NEAR(displacement / kRecords, kRecords / 3.0, 100);
  EXPECT_LT(neighbours, 12);
}

TEST(Sampler, SmallSetsReachEveryPlace) {
  int at_front[5] = {};
  for (uint64_t seed = 0; seed < 2000; ++seed) ++at_front[Sampler({.records = 5, .seed = seed}).at(0).record];
  for (const int count : at_front) EXPECT_NEAR(count, 400, 80);
}

TEST(Sampler, RanksShareAPaddedEpoch) {
  constexpr int64_t kRecords = 10, kWorld = 4;
  const auto whole = epoch_of({.records = kRecords, .seed = 3}, 2);
  std::multiset<int64_t> seen;
  for (int64_t rank = 0; rank < kWorld; ++rank) {
    const auto own = epoch_of({.records = kRecords, .seed = 3, .rank = rank, .world_size = kWorld}, 2);
    ASSERT_EQ(own.size(), 3u);
    for (size_t i = 0; i < own.size(); ++i)
      EXPECT_EQ(own[i], whole[(i * kWorld + static_cast<size_t>(rank)) % kRecords]);
    seen.insert(own.begin(), own.end());
  }
  for (int64_t record = 0; record < kRecords; ++record) EXPECT_GE(seen.count(record), 1u);
  EXPECT_EQ(seen.size(), 12u);
  EXPECT_EQ(seen.count(whole[0]), 2u);  // padding repeats the first two
  EXPECT_EQ(seen.count(whole[1]), 2u);
}

TEST(Sampler, RecordsOfFirst) {
  const Sampler sampler({.records = 50, .seed = 5});
  const auto records = sampler.records_of_first(20);
  EXPECT_EQ(records.size(), 20u);
  EXPECT_TRUE(std::is_sorted(records.begin(), records.end()));
  for (int64_t i = 0; i < 20; ++i)
    EXPECT_TRUE(std::binary_search(records.begin(), records.end(), sampler.at(i).record));
  EXPECT_EQ(sampler.records_of_first(170).size(), 50u);
}

TEST(Sampler, RefusesNonsense) {
  EXPECT_THROW(Sampler({.records = 0}), std::invalid_argument);
  EXPECT_THROW(Sampler({.records = 5, .rank = 2, .world_size = 2}), std::invalid_argument);
}

}  // namespace
}  // namespace bench
