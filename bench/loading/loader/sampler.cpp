// Shuffles with a keyed bijection (Feistel network with cycle walking), which needs no stored permutation and
// no lock.
#include "bench/loading/loader/sampler.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "bench/formats/shards.h"
#include "bench/image/philox.h"

namespace bench {
namespace {

constexpr int kRounds = 8;

uint64_t mixed(uint64_t value) {  // splitmix64's finalizer
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
  return value ^ (value >> 31);
}

enum : uint32_t {
  kShuffle = 0x5A3D1E,
  kWindow,
  kFirstShard
};  // purpose of the random numbers, part of the key

// A permutation of 0 .. count - 1 that depends on (seed, epoch, window, what).
int64_t permuted(int64_t index, int64_t count, uint64_t seed, int64_t epoch, uint32_t window, uint32_t what) {
  const int half_bits =
      std::max(1, (static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1))) + 1) / 2);
  const uint64_t mask = (1ull << half_bits) - 1;
  const PhiloxBlock words =
      philox({static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32), window, what}, seed);
  const uint64_t key = (static_cast<uint64_t>(words[0]) << 32 | words[1]) | 1;
  uint64_t value = static_cast<uint64_t>(index);
  do {  // cycle walking: the network's domain is at most four times count
    uint64_t left = value >> half_bits, right = value & mask;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t next = left ^ (mixed(right + key * static_cast<uint64_t>(round + 1) + words[2]) & mask);
      left = right;
      right = next;
    }
    value = left << half_bits | right;
  } while (value >= static_cast<uint64_t>(count));
  return static_cast<int64_t>(value);
}

}  // namespace

Order record_order(const std::string& name) {
  if (name == "in_order") return Order::in_order;
  if (name == "shuffled") return Order::shuffled;
  if (name == "windowed") return Order::windowed;
  throw std::invalid_argument("order " + name + ": expected in_order, shuffled or windowed");
}

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  if (options.records < 1) throw std::invalid_argument("the sampler needs at least one record");
  if (options.world_size < 1 || options.rank < 0 || options.rank >= options.world_size)
    throw std::invalid_argument("the sampler's rank is not within its world size");
  if (options.shards < 1 || options.shards > options.records || options.interleave < 1 || options.window < 1)
    throw std::invalid_argument(
        "windowed order needs 1 to `records` shards, and interleave and window of at least 1");
  per_epoch_ = (options.records + options.world_size - 1) / options.world_size;
}

Sample Sampler::at(int64_t position) const {
  const int64_t epoch = position / per_epoch_;
  const int64_t place = (position % per_epoch_ * options_.world_size + options_.rank) % options_.records;
  switch (options_.order) {
    case Order::shuffled:
      return {permuted(place, options_.records, options_.seed, epoch, 0, kShuffle), epoch};
    case Order::windowed:
      return {windowed(place, epoch), epoch};
    case Order::in_order:
      break;
  }
  return {place, epoch};
}

int64_t Sampler::windowed(int64_t place, int64_t epoch) const {
  const int64_t window = place / options_.window, begin = window * options_.window;
  const int64_t length = std::min(options_.window, options_.records - begin);
  const int64_t shuffled =
      permuted(place - begin, length, options_.seed, epoch, static_cast<uint32_t>(window), kWindow);
  return interleaved(begin + shuffled, epoch);
}

int64_t Sampler::interleaved(int64_t place, int64_t epoch) const {
  const Shards shards{options_.records, options_.shards};
  const int64_t first = permuted(0, shards.count, options_.seed, epoch, 0, kFirstShard);
  const auto shard_at = [&](int64_t turn) { return (first + turn) % shards.count; };
  const auto start_of =
      [&](int64_t turn) {  // number of records in the shards before `turn`, starting at `first`
        const int64_t wrapped = shards.start(shard_at(turn)) - shards.start(first);
        return turn >= shards.count ? shards.records : wrapped < 0 ? wrapped + shards.records : wrapped;
      };
  const int64_t least = shards.records / shards.count;  // records in the shorter shards
  int64_t group = place / (options_.interleave * (least + 1));
  while (start_of((group + 1) * options_.interleave) <= place) ++group;
  const int64_t turn = group * options_.interleave,
                members = std::min(options_.interleave, shards.count - turn);
  int64_t index = place - start_of(turn);
  if (index < least * members) return shards.start(shard_at(turn + index % members)) + index / members;
  index -= least * members;  // the last record of the index-th longer shard
  int64_t member = 0;
  while (shards.size(shard_at(turn + member)) == least || index-- > 0) ++member;
  return shards.start(shard_at(turn + member)) + least;
}

std::vector<int64_t> Sampler::records_of_first(int64_t positions) const {
  std::vector<bool> among_them(static_cast<size_t>(options_.records));
  for (int64_t position = 0; position < positions; ++position)
    among_them[static_cast<size_t>(at(position).record)] = true;
  std::vector<int64_t> records;
  for (int64_t record = 0; record < options_.records; ++record)
    if (among_them[static_cast<size_t>(record)]) records.push_back(record);
  return records;
}

}  // namespace bench
