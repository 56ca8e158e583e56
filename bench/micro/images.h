// The images that decode/ and load/ work on: the same ones for every storage, few enough to stay in memory.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "bench/dataset/index.h"

namespace bench {

// Up to `most` record numbers, evenly spread over the data set.
inline std::vector<int64_t> even_sample(const Dataset& dataset, int64_t most) {
  const int64_t all = static_cast<int64_t>(dataset.images.size()), count = std::min(all, most);
  std::vector<int64_t> records;
  for (int64_t i = 0; i < count; ++i) records.push_back(i * all / count);
  return records;
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace bench
