// Divides the records of a packed copy among shard files; samplers use it to find the shard of a record.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/formats/index.h"

namespace bench {

// Shards hold consecutive records; their lengths differ by at most one, the longer ones come first.
struct Shards {
  int64_t records = 0;
  int64_t count = 1;

  int64_t start(int64_t shard) const { return shard * (records / count) + std::min(shard, records % count); }
  int64_t size(int64_t shard) const { return start(shard + 1) - start(shard); }
  int64_t holding(int64_t record) const {
    const int64_t length = records / count, longer = records % count;
    const int64_t in_longer = longer * (length + 1);
    return record < in_longer ? record / (length + 1) : longer + (record - in_longer) / length;
  }
  std::string file_name(int64_t shard, std::string_view ending = "") const {
    return fmt::format("train-{:05}-of-{:05}{}", shard, count, ending);
  }
};

// The files of the shards that hold these records, each once, in ascending order of the shards. Ignores
// record numbers out of range.
template <typename FileOf>
std::vector<std::filesystem::path> files_holding(const Shards& shards, const std::vector<int64_t>& records,
                                                 const FileOf& file_of) {
  std::vector<bool> used(static_cast<size_t>(shards.count));
  for (const int64_t record : records)
    if (record >= 0 && record < shards.records) used[static_cast<size_t>(shards.holding(record))] = true;
  std::vector<std::filesystem::path> files;
  for (int64_t shard = 0; shard < shards.count; ++shard)
    if (used[static_cast<size_t>(shard)]) files.push_back(file_of(shard));
  return files;
}

// Shards of about 128 MiB, as ImageNet's usual 1,024 TFRecord files; at least 4 shards (given 4 records), so
// that interleaving has an effect.
inline Shards shards_of(int64_t records, int64_t bytes) {
  constexpr int64_t kShardBytes = int64_t{128} << 20, kLeast = 4;
  return {records, std::min(records, std::max(kLeast, (bytes + kShardBytes - 1) / kShardBytes))};
}

inline Shards shards_of(const Dataset& dataset) {
  return shards_of(static_cast<int64_t>(dataset.images.size()), dataset.total_bytes());
}

}  // namespace bench
