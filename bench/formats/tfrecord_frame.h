// TFRecord framing: length of the data (uint64, little-endian), masked CRC32C of the length, data, masked
// CRC32C of the data. Source: tensorflow/core/lib/io/record_writer.h.
#pragma once
#include <fmt/format.h>
#include <isa-l/crc.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

namespace bench {

constexpr int64_t kFrameHeaderBytes = 12, kFrameFooterBytes = 4;
constexpr int64_t kLargestFrame = int64_t{1} << 30;  // a larger record is treated as damaged

// A shard's index: a line `offset size` per frame, as written by DALI's tfrecord2idx. Readers that take all
// files train-* must not find it.
inline std::string tfrecord_index_name(int64_t shard, int64_t shards) {
  return fmt::format("index-{:05}-of-{:05}.idx", shard, shards);
}

// Masked because a CRC over data that contains its own CRC is weak (see record_writer.h).
inline uint32_t masked_crc32c(std::span<const uint8_t> bytes) {
  auto* data = const_cast<unsigned char*>(bytes.data());  // ISA-L only reads, but its parameter is not const
  const uint32_t crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~uint32_t{0});
  return std::rotr(crc, 15) + 0xA282EAD8u;
}

// The data of the frame that `bytes` begins with; bytes may go on behind it. Throws std::runtime_error with
// the reason only.
inline std::span<const uint8_t> data_of_frame(std::span<const uint8_t> bytes) {
  const auto number_at = [&]<class Number>(size_t offset, Number number) {
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
  };
  if (bytes.size() < kFrameHeaderBytes + kFrameFooterBytes) throw std::runtime_error("it is cut off");
  if (masked_crc32c(bytes.first(sizeof(uint64_t))) != number_at(sizeof(uint64_t), uint32_t{}))
    throw std::runtime_error("the checksum of its length is wrong");
  const auto length = number_at(0, uint64_t{});
  if (length > bytes.size() - kFrameHeaderBytes - kFrameFooterBytes)
    throw std::runtime_error(fmt::format("its length is {} and it is cut off", length));
  const auto data = bytes.subspan(kFrameHeaderBytes, length);
  if (length > kLargestFrame || masked_crc32c(data) != number_at(kFrameHeaderBytes + length, uint32_t{}))
    throw std::runtime_error("the checksum of its data is wrong");
  return data;
}

}  // namespace bench
