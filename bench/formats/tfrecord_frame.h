// TFRecord framing: length of the data (uint64, little-endian), masked CRC32C of the length, data, masked
// CRC32C of the data. Source: tensorflow/core/lib/io/record_writer.h.
#pragma once
#include <fmt/format.h>
#include <isa-l/crc.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

constexpr int64_t kFrameHeaderBytes = 12, kFrameFooterBytes = 4;
constexpr int64_t kLargestFrame = int64_t{1} << 30;  // a larger record is treated as damaged

// Each shard has an index NAME.idx with a line `offset size` per frame, as written by DALI's tfrecord2idx.
inline std::string tfrecord_shard_name(int64_t shard, int64_t shards) {
  return fmt::format("train-{:05}-of-{:05}", shard, shards);
}

// Masked because a CRC over data that contains its own CRC is weak (see record_writer.h).
inline uint32_t masked_crc32c(std::span<const uint8_t> bytes) {
  auto* data = const_cast<unsigned char*>(bytes.data());  // ISA-L only reads, but its parameter is not const
  const uint32_t crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~uint32_t{0});
  return std::rotr(crc, 15) + 0xA282EAD8u;
}

}  // namespace bench
