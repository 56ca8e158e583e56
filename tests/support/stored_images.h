// Storages and packed copies of small data sets, and what their records must be, for tests.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "bench/dataset/pack.h"
#include "bench/loading/storage/storage.h"
#include "tests/support/small_images.h"

namespace bench {

inline std::unique_ptr<Storage> open_storage(const std::string& name, const StorageOptions& options) {
  return StorageRegistry::instance().find(name)(options);
}

// Why this build can't run a storage; empty: it can.
inline std::string why_missing(const std::string& storage) {
  for (const Value& value : registered_values())
    if (value.axis == "storage" && value.name == storage) return value.missing;
  return "there is no storage " + storage;
}

inline PackResult pack(const Dataset& dataset, const std::filesystem::path& store, const std::string& kind) {
  std::filesystem::create_directories(store);
  return PackRegistry::instance().find(kind)({dataset, store});
}

inline void expect_record(const EncodedImage& image, const Dataset& dataset, int64_t record) {
  const ImageEntry& entry = dataset.images.at(static_cast<size_t>(record));
  EXPECT_EQ(image.label, entry.label) << entry.path;
  EXPECT_EQ(Bytes(image.bytes.begin(), image.bytes.end()), read_bytes(dataset.root / entry.path))
      << entry.path;
}

}  // namespace bench
