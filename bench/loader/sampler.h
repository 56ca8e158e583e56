// Which record is the i-th image of a rank: the order of epochs, fixed by the seed whatever the thread count.
#pragma once
#include <cstdint>
#include <vector>

namespace bench {

// Ranks share an epoch by torch.utils.data.DistributedSampler's rule: it is padded to a multiple of
// world_size by repeating its first records, and rank r takes positions r, r + world_size, ...
struct SamplerOptions {
  int64_t records = 0;
  bool shuffled = true;
  uint64_t seed = 1;
  int64_t rank = 0;
  int64_t world_size = 1;
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
  SamplerOptions options_;
  int64_t per_epoch_ = 0;
};

}  // namespace bench
