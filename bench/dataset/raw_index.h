// The index of a copy as raw pixels: where in its shard each image lies and how large it is.
#pragma once
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

namespace bench {

static_assert(std::endian::native == std::endian::little,
              "the index is read and written as it lies in memory");

inline constexpr uint64_t kRawIndexMagic = 0x3130584449574152;  // "RAWIDX01"
inline constexpr int kRawShorterSide = 256;

struct RawIndexHeader {
  uint64_t magic = kRawIndexMagic;
  int64_t records = 0;
  int64_t shards = 0;
};

// width x height x 3 bytes from `offset` of the record's shard file; both 0: the image could not be decoded.
struct RawIndexEntry {
  int64_t offset = 0;
  int64_t label = 0;
  int32_t width = 0, height = 0;
};
static_assert(sizeof(RawIndexEntry) == 24 && std::is_trivially_copyable_v<RawIndexEntry>);

inline std::string raw_shard_name(int64_t shard, int64_t shards) {
  return fmt::format("train-{:05}-of-{:05}.rgb", shard, shards);
}

}  // namespace bench
