// Which record is the i-th image of a rank: the order of epochs, fixed by the seed whatever the thread count.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// Ranks share an epoch by torch.utils.data.DistributedSampler's rule: it is padded to a multiple of
// world_size by repeating its first records, and rank r takes positions r, r + world_size, ...
enum class Order { in_order, shuffled, windowed };
Order record_order(const std::string& name);  // the row field `order`; throws std::invalid_argument

struct SamplerOptions {
  int64_t records = 0;
  Order order = Order::shuffled;
  uint64_t seed = 1;
  int64_t rank = 0;
  int64_t world_size = 1;
  // Order `windowed`, for what can't be read at random: `interleave` shards at a time give a record in turn
  // (tf.data's interleave with a block length of 1), beginning with a shard that each epoch draws; `window`
  // records one after another are then shuffled among each other (Grain's WindowShuffle; a tf.data shuffle
  // buffer of as many mixes about as far, but keeps a state).
  int64_t shards = 1;
  int64_t interleave = 1;
  int64_t window = 1024;
};

struct Sample {
  int64_t record = 0;
  int64_t epoch = 0;
};

// Position 0, 1, 2, ... of this rank runs through epoch after epoch. Holds no state, so any thread may ask.
// Batches that span two epochs take from both, so every batch is full.
class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options);
  Sample at(int64_t position) const;
  int64_t per_epoch() const { return per_epoch_; }  // positions of this rank in one epoch
  // Distinct records among the first n positions, sorted.
  std::vector<int64_t> records_of_first(int64_t positions) const;

 private:
  int64_t windowed(int64_t place, int64_t epoch) const;
  int64_t interleaved(int64_t place, int64_t epoch) const;

  SamplerOptions options_;
  int64_t per_epoch_ = 0;
};

}  // namespace bench
