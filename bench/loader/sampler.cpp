// Orders of epochs as a keyed bijection (Feistel network, cycle walking): nothing to permute, store or lock.
#include "bench/loader/sampler.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "bench/loader/philox.h"

namespace bench {
namespace {

constexpr int kRounds = 8;

uint64_t mixed(uint64_t value) {  // splitmix64's finalizer
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
  return value ^ (value >> 31);
}

// Maps 0 .. count - 1 onto itself, another way for each (seed, epoch).
int64_t permuted(int64_t index, int64_t count, uint64_t seed, int64_t epoch) {
  const int half_bits =
      std::max(1, (static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1))) + 1) / 2);
  const uint64_t mask = (1ull << half_bits) - 1;
  const PhiloxBlock words =
      philox({static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32), 0, 0x5A3D1E}, seed);
  const uint64_t key = (static_cast<uint64_t>(words[0]) << 32 | words[1]) | 1;
  uint64_t value = static_cast<uint64_t>(index);
  do {  // the network's domain is at most four times as large as count
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

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  if (options.records < 1) throw std::invalid_argument("the sampler has no records to draw from");
  if (options.world_size < 1 || options.rank < 0 || options.rank >= options.world_size)
    throw std::invalid_argument("the sampler's rank is not within its world size");
  per_epoch_ = (options.records + options.world_size - 1) / options.world_size;
}

Sample Sampler::at(int64_t position) const {
  const int64_t epoch = position / per_epoch_;
  const int64_t place = (position % per_epoch_ * options_.world_size + options_.rank) % options_.records;
  return {options_.shuffled ? permuted(place, options_.records, options_.seed, epoch) : place, epoch};
}

std::vector<int64_t> Sampler::records_of_first(int64_t positions) const {
  std::vector<int64_t> records;
  for (int64_t position = 0; position < positions; ++position) {
    if (position % per_epoch_ == 0 && position > 0) {  // an epoch's worth more: keep memory to one epoch
      std::sort(records.begin(), records.end());
      records.erase(std::unique(records.begin(), records.end()), records.end());
    }
    records.push_back(at(position).record);
  }
  std::sort(records.begin(), records.end());
  records.erase(std::unique(records.begin(), records.end()), records.end());
  return records;
}

}  // namespace bench
