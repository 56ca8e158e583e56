// The images for decode/ and load/: the same for every storage, few enough to stay in memory.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "bench/formats/index.h"
#include "bench/image/decode.h"
#include "harness/base/stopwatch.h"

namespace bench {

// Up to `most` record numbers, evenly spread over the data set.
inline std::vector<int64_t> even_sample(const Dataset& dataset, int64_t most) {
  const int64_t all = static_cast<int64_t>(dataset.images.size()), count = std::min(all, most);
  std::vector<int64_t> records;
  for (int64_t i = 0; i < count; ++i) records.push_back(i * all / count);
  return records;
}

struct Jpegs {
  std::vector<std::vector<uint8_t>> images;  // readable ones only
  std::vector<Augmentation> augmentations;
};
// Up to `most` JPEG files of the data set, each with a random crop box. Read and cached at the first call, so
// that --benchmark_list_tests and other filters don't read them. Throws std::runtime_error if none is
// readable.
using KeptJpegs = std::function<const Jpegs&()>;
KeptJpegs keep_jpegs(const std::filesystem::path& data, int64_t most, int side);

inline std::vector<int> thread_counts() {  // 1, 2, 4, ... up to all cores
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<int> counts;
  for (int threads = 1; threads < cores; threads *= 2) counts.push_back(threads);
  counts.push_back(cores);
  return counts;
}

// bytes: of the encoded images; 0: there are none.
inline void count_images(benchmark::State& state, int64_t images, double bytes, double seconds) {
  state.counters["images_per_second"] = static_cast<double>(images) / seconds;
  if (bytes > 0) state.counters["ns_per_encoded_byte"] = seconds * 1e9 / bytes;
}

}  // namespace bench
