// TFRecord shards: each record is a frame of its data's length (uint64, little-endian), masked crc32c of
// that, data, masked crc32c of the data. Source: tensorflow/core/lib/io/record_writer.h.
#pragma once
#include <fmt/format.h>
#include <isa-l/crc.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

constexpr int64_t kFrameHeaderBytes = 12, kFrameFooterBytes = 4;
constexpr int64_t kLargestFrame = int64_t{1} << 30;  // an image of more than 1 GiB is a mistake

// Beside it lies NAME.idx: a line `offset size` of each record's frame, as DALI's tfrecord2idx writes it.
inline std::string tfrecord_shard_name(int64_t shard, int64_t shards) {
  return fmt::format("train-{:05}-of-{:05}", shard, shards);
}

// A checksum of data that holds checksums would be weak, hence the mask.
inline uint32_t masked_crc32c(std::span<const uint8_t> bytes) {
  auto* data = const_cast<unsigned char*>(bytes.data());  // ISA-L only reads, but doesn't say so
  const uint32_t crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~uint32_t{0});
  return std::rotr(crc, 15) + 0xA282EAD8u;
}

}  // namespace bench
