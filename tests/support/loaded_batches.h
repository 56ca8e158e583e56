// Loaders of small data sets, and copies of their batches, for tests.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/loading/loader/loader.h"
#include "tests/support/failure_of.h"
#include "tests/support/stored_images.h"

namespace bench {

// A small data set in files that it removes at its end.
struct StoredImages {
  explicit StoredImages(int images) : dataset(small_dataset(folder.path(), images)) {}
  const TemporaryFolder folder;
  const Dataset dataset;
  const std::unique_ptr<Storage> storage = open_storage("files", {dataset, "", true, {}});
};

inline LoaderOptions options_for(const Dataset& dataset, int threads, int64_t batch_size = 6) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.image_px = 16;
  options.threads = threads;
  options.ring_depth = 3;
  options.classes = 2;
  options.sampler.records = static_cast<int64_t>(dataset.images.size());
  return options;
}

inline std::unique_ptr<Loader> started(Storage& storage, const LoaderOptions& options) {
  auto loader = make_loader(storage, options);
  loader->start();
  return loader;
}

struct Copy {
  std::vector<float> images;
  std::vector<int64_t> labels;
  bool operator==(const Copy&) const = default;
};

inline Copy copy_of(const Batch& batch, const LoaderOptions& options) {
  const int64_t floats = batch.size * 3 * options.image_px * options.image_px;
  const auto* images = static_cast<const float*>(batch.images);
  return {{images, images + floats}, {batch.labels, batch.labels + batch.size}};
}

inline std::vector<Copy> load(Storage& storage, const LoaderOptions& options, int batches) {
  const auto loader = started(storage, options);
  std::vector<Copy> copies;
  for (int i = 0; i < batches; ++i) {
    const Batch batch = loader->next();
    EXPECT_EQ(batch.number, i);
    copies.push_back(copy_of(batch, options));
    loader->release(batch);
  }
  return copies;
}

inline std::string failure_to_load(Storage& storage, const LoaderOptions& options, int batches) {
  return failure_of([&] { load(storage, options, batches); });
}

// Waits until the count stays the same for a while.
inline int settled(const Loader& loader) {
  int last = -1, same = 0;
  while (same < 5) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int now = loader.ready_batches();
    same = now == last ? same + 1 : 0;
    last = now;
  }
  return last;
}

}  // namespace bench
