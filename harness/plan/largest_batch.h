// The largest batch that fits into a device's memory, found by trying.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

namespace harness {

inline constexpr int64_t kMostImagesTried = 1 << 17;

struct LargestBatch {
  int64_t images = 0;               // of one device; 0: not even one image fits
  std::optional<int64_t> too_many;  // the smallest number that was tried and did not fit; nullopt: all fitted
};

// Doubles the number of images from 1 on until it doesn't fit or kMostImagesTried is reached, then bisects
// until neighbours are known. `fits` is called at most 2 log2(kMostImagesTried) times.
LargestBatch largest_batch(const std::function<bool(int64_t images)>& fits);

}  // namespace harness
