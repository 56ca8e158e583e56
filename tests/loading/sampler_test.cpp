// unit: epochs are permutations, ranks share them as DistributedSampler does, and the seed decides.
#include "bench/loading/loader/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <stdexcept>

#include "bench/formats/shards.h"

namespace bench::sampler_test {

std::vector<int64_t> epoch_of(const SamplerOptions& options, int64_t epoch) {
  const Sampler sampler(options);
  const int64_t per_epoch = (options.records + options.world_size - 1) / options.world_size;
  std::vector<int64_t> records;
  for (int64_t i = 0; i < per_epoch; ++i) {
    const Sample sample = sampler.at(epoch * per_epoch + i);
    EXPECT_EQ(sample.epoch, epoch);
    records.push_back(sample.record);
  }
  return records;
}

bool is_permutation(std::vector<int64_t> order, int64_t records) {
  std::sort(order.begin(), order.end());
  std::vector<int64_t> all(static_cast<size_t>(records));
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

TEST(Sampler, EveryEpochIsAPermutation) {
  for (const int64_t records : {1, 2, 3, 5, 16, 17, 1000, 4097})
    for (const int64_t epoch : {0, 1, 7})
      EXPECT_TRUE(is_permutation(epoch_of({.records = records}, epoch), records)) << records;
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

SamplerOptions windowed(int64_t records, int64_t shards, int64_t interleave, int64_t window) {
  return {records, Order::windowed, 1, 0, 1, shards, interleave, window};
}

TEST(Sampler, WindowedEpochsArePermutations) {
  for (const int64_t records : {1, 2, 7, 64, 1001})
    for (const int64_t shards : {1, 2, 5, 7, 64})
      for (const int64_t interleave : {1, 2, 4, 100})
        for (const int64_t window : {1, 3, 32, 5000})
          for (const int64_t epoch : {0, 1, 2}) {
            if (shards > records) continue;
            const auto order = epoch_of(windowed(records, shards, interleave, window), epoch);
            ASSERT_TRUE(is_permutation(order, records)) << records << " records, " << shards << " shards, "
                                                        << interleave << " at once, window " << window;
          }
}

TEST(Sampler, WindowOfOneReadsInterleavedShardsInTheirOrder) {
  // 10 records in 4 shards: 0 1 2 | 3 4 5 | 6 7 | 8 9. An epoch begins with any of them and goes round.
  const Shards shards{10, 4};
  const auto order = epoch_of(windowed(10, 4, 2, 1), 5);
  const int64_t first = shards.holding(order[0]);
  const auto start = [&](int64_t turn) { return shards.start((first + turn) % 4); };
  EXPECT_EQ(order[0], start(0));
  EXPECT_EQ(order[1], start(1));
  EXPECT_EQ(order[2], start(0) + 1);
  EXPECT_EQ(order[3], start(1) + 1);
  std::vector<int64_t> last(4, -1);
  for (const int64_t record : order) {  // each shard from front to back
    int64_t& before = last[static_cast<size_t>(shards.holding(record))];
    EXPECT_GT(record, before);
    before = record;
  }
}

TEST(Sampler, WindowsAreShuffledAndRecordsStayInThem) {
  const auto plain = epoch_of(windowed(400, 1, 1, 1), 0), shuffled = epoch_of(windowed(400, 1, 1, 50), 0);
  EXPECT_NE(plain, shuffled);
  int moved = 0;
  for (size_t i = 0; i < 400; ++i) {
    ASSERT_EQ(shuffled[i] / 50, static_cast<int64_t>(i) / 50);
    moved += shuffled[i] != plain[i];
  }
  EXPECT_GT(moved, 300);
  std::set<int64_t> offsets;  // windows differ from one another
  for (size_t window = 0; window < 8; ++window) offsets.insert(shuffled[50 * window] - plain[50 * window]);
  EXPECT_GT(offsets.size(), 4u);
}

TEST(Shards, LengthsDifferByOneAtMost) {
  for (const int64_t records : {1, 5, 64, 1003})
    for (const int64_t count : {1, 2, 5})
      for (int64_t record = 0; count <= records && record < records; ++record) {
        const Shards shards{records, count};
        const int64_t shard = shards.holding(record);
        ASSERT_TRUE(shards.start(shard) <= record && record < shards.start(shard + 1));
        ASSERT_LE(std::abs(shards.size(shard) - records / count), 1);
      }
  EXPECT_EQ(shards_of(2, 1000).count, 2);
  EXPECT_EQ(shards_of(1000, 1000).count, 4);
  EXPECT_EQ(shards_of(1281167, int64_t{1281167} * 114670).count, 1095);
}

}  // namespace bench::sampler_test
