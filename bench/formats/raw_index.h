// The index of a raw-pixel copy: the position of each image in its shard, its size and its checksum.
#pragma once
#include <xxhash.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace bench {

static_assert(std::endian::native == std::endian::little, "the index is read and written in host byte order");

inline constexpr uint64_t kRawIndexMagic = 0x3230584449574152;  // "RAWIDX02"
inline constexpr const char* kRawEnding = ".rgb";               // of the shards' files
inline constexpr int kRawShorterSide = 256;

struct RawIndexHeader {
  uint64_t magic = kRawIndexMagic;
  int64_t records = 0;
  int64_t shards = 0;
};

// The pixels are width x height x 3 bytes (uint8 RGB) at byte `offset` of the record's shard file. Width and
// height 0: the image could not be decoded.
struct RawIndexEntry {
  int64_t offset = 0;
  int64_t label = 0;
  int32_t width = 0, height = 0;
  uint64_t checksum = 0;  // raw_checksum() of the entry and its pixels
};
static_assert(sizeof(RawIndexEntry) == 32 && std::is_trivially_copyable_v<RawIndexEntry>);

// XXH3 over the pixels and the other fields of the entry (a wrong label must be detected too).
inline uint64_t raw_checksum(const RawIndexEntry& entry, std::span<const uint8_t> pixels) {
  const uint64_t fields = XXH3_64bits(&entry, offsetof(RawIndexEntry, checksum));
  return XXH3_64bits_withSeed(pixels.data(), pixels.size(), fields);
}

}  // namespace bench
