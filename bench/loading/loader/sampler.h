// Maps the i-th image of a rank to a record. The order depends only on the options, not on the thread count.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// Ranks share an epoch as in torch.utils.data.DistributedSampler: the epoch is padded to a multiple of
// world_size by repeating its first records, and rank r takes positions r, r + world_size, ...
enum class Order { in_order, shuffled, windowed };
Order record_order(const std::string& name);  // the row field `order`; throws std::invalid_argument

struct SamplerOptions {
  int64_t records = 0;
  Order order = Order::shuffled;
  uint64_t seed = 1;
  int64_t rank = 0;
  int64_t world_size = 1;
  // Order `windowed`, for storages without random access: reads `interleave` shards round-robin, one record
  // each (tf.data's interleave with block length 1), starting at a random shard per epoch; then shuffles
  // within consecutive windows of `window` records (Grain's WindowShuffle; similar to a tf.data shuffle
  // buffer of that size, but stateless).
  int64_t shards = 1;
  int64_t interleave = 1;
  int64_t window = 1024;
};

struct Sample {
  int64_t record = 0;
  int64_t epoch = 0;
};

// Positions 0, 1, 2, ... of this rank run through the epochs one after another, so batches can span two
// epochs and are always full. Stateless and thread-safe. Throws std::invalid_argument for inconsistent
// options.
class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options);
  Sample at(int64_t position) const;
  // Distinct records among the first n positions, sorted.
  std::vector<int64_t> records_of_first(int64_t positions) const;

 private:
  int64_t windowed(int64_t place, int64_t epoch) const;
  int64_t interleaved(int64_t place, int64_t epoch) const;

  SamplerOptions options_;
  int64_t per_epoch_ = 0;  // positions of this rank in one epoch
};

}  // namespace bench
