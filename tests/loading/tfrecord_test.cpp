// unit: TFRecord shards hold the files, are what TensorFlow writes, and damage to them is found and named
#include <fmt/format.h>
#include <gtest/gtest.h>

#ifndef HAVE_TFRECORD
TEST(TfRecord, NeedsItsLibraries) { GTEST_SKIP() << "this build found no ISA-L or no protobuf"; }
#else

#include <cstring>
#include <random>

#include "bench/formats/shards.h"
#include "bench/formats/tfrecord_example.h"
#include "bench/formats/tfrecord_frame.h"
#include "tests/support/failure_of.h"
#include "tests/support/stored_images.h"

namespace bench::tfrecord_test {

namespace fs = std::filesystem;

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

uint32_t crc32c_by_bits(std::span<const uint8_t> bytes) {
  uint32_t crc = ~0u;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

template <class Number>
Number number_at(const Bytes& bytes, size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

struct TfRecord : testing::Test {
  TemporaryFolder folder;
  Dataset dataset = small_dataset(folder.path() / "data", 18);
  fs::path location = pack(dataset, folder.path() / "store", "tfrecord").location;

  std::unique_ptr<Storage> open() const { return open_storage("tfrecord", {dataset, location, true, {}}); }
  fs::path shard(int number) const { return location / Shards{0, 4}.file_name(number); }
  fs::path index(int number) const { return shard(number).parent_path() / tfrecord_index_name(number, 4); }

  std::string failure_to_open() const {
    return failure_of([&] { open(); });
  }
  std::string failure_to_read(int64_t record) const {
    const auto storage = open();
    return failure_of([&] { storage->reader()->read(record); });
  }
  static void change(const fs::path& file, size_t offset, const std::function<void(uint8_t*)>& change_bytes) {
    Bytes bytes = read_bytes(file);
    ASSERT_LT(offset, bytes.size());
    change_bytes(bytes.data() + offset);
    write_bytes(file, bytes);
  }
};

// Reads the shards according to the format's specification, without the index and with another CRC32C
// implementation.
TEST_F(TfRecord, FramesAreTensorFlows) {
  size_t record = 0;
  for (int i = 0; i < 4; ++i) {
    const Bytes bytes = read_bytes(shard(i));
    std::string expected_index;
    for (size_t at = 0; at < bytes.size(); ++record) {
      const auto masked = [&](size_t begin, size_t count) {
        const uint32_t crc = crc32c_by_bits({bytes.data() + begin, count});
        return (crc >> 15 | crc << 17) + 0xa282ead8u;
      };
      const auto length = number_at<uint64_t>(bytes, at);
      ASSERT_LE(at + 16 + length, bytes.size());
      EXPECT_EQ(number_at<uint32_t>(bytes, at + 8), masked(at, 8));
      EXPECT_EQ(number_at<uint32_t>(bytes, at + 12 + length), masked(at + 12, length));
      const std::string_view data(reinterpret_cast<const char*>(bytes.data()) + at + 12, length);
      EXPECT_NE(data.find(dataset.images[record].path), std::string_view::npos);
      expected_index += std::to_string(at) + " " + std::to_string(length + 16) + "\n";
      at += length + 16;
    }
    const Bytes index_bytes = read_bytes(index(i));
    EXPECT_EQ(std::string(index_bytes.begin(), index_bytes.end()), expected_index);
  }
  EXPECT_EQ(record, 18u);
  EXPECT_EQ(crc32c_by_bits(bytes_of("123456789")), 0xE3069283u);  // the check value of crc32c
}

TEST_F(TfRecord, DamagedRecordIsNamedAndOthersAreRead) {
  const auto size = static_cast<size_t>(open()->reader()->read(5).bytes.size());
  change(shard(1), 12 + size / 2, [](uint8_t* byte) { *byte ^= 1; });
  const std::string message = failure_to_read(5);
  EXPECT_SAYS(message, "record 5 in " + shard(1).string() + ": the checksum of its data is wrong");
  EXPECT_SAYS(message, "make_dataset pack --to tfrecord");
  const auto storage = open();
  expect_record(storage->reader()->read(6), dataset, 6);
  change(shard(0), 3, [](uint8_t* byte) { *byte ^= 4; });
  EXPECT_SAYS(failure_to_read(0), "the checksum of its length is wrong");
  change(shard(2), 0, [](uint8_t* header) {  // a whole header that belongs elsewhere
    const uint64_t length = uint64_t{1} << 40;
    const uint32_t crc = masked_crc32c({reinterpret_cast<const uint8_t*>(&length), sizeof length});
    std::memcpy(header, &length, sizeof length);
    std::memcpy(header + sizeof length, &crc, sizeof crc);
  });
  EXPECT_SAYS(failure_to_read(10), "its length is 1099511627776 and it is cut off");
}

TEST_F(TfRecord, RecordsThatHoldNoImageAreRefused) {
  const size_t size = read_bytes(shard(3)).size();
  for (const std::string& data :
       {std::string("not a message \xff\xff\xff"), std::string(), std::string("\x0a\x02\x0a", 3)}) {
    std::string frame(12, '\0');
    const uint64_t length = data.size();
    std::memcpy(frame.data(), &length, sizeof length);
    uint32_t crc = masked_crc32c(bytes_of(frame).first(8));
    std::memcpy(frame.data() + 8, &crc, sizeof crc);
    crc = masked_crc32c(bytes_of(data));
    frame += data + std::string(reinterpret_cast<const char*>(&crc), sizeof crc);
    std::string lines = fmt::format("0 {}\n", frame.size()), all = frame;
    for (int i = 0; i < 3; ++i) {
      lines += fmt::format("{} {}\n", all.size(), frame.size());
      all += frame;
    }
    ASSERT_NE(all.size(), size);
    write_bytes(shard(3), Bytes(all.begin(), all.end()));
    write_bytes(index(3), Bytes(lines.begin(), lines.end()));
    EXPECT_SAYS(failure_to_read(14), "no tf.train.Example with image/encoded");
  }
}

TEST_F(TfRecord, CutOffShardIsRefused) {
  const auto bytes = fs::file_size(shard(3));
  fs::resize_file(shard(3), bytes - 1);
  EXPECT_SAYS(failure_to_open(), fmt::format("{} is {} bytes long, but its index ends at {}",
                                             shard(3).string(), bytes - 1, bytes));
}

TEST_F(TfRecord, WhatIsMissingOrForeignIsNamed) {
  const Bytes good = read_bytes(index(1));
  const auto with_index = [&](const std::string& text) {
    write_bytes(index(1), Bytes(text.begin(), text.end()));
    return failure_to_open();
  };
  EXPECT_SAYS(with_index("0 12\n"), ".idx:1: a record at 0 of 12 bytes can't follow");
  EXPECT_SAYS(with_index("0 100\n50 100\n"),
              ".idx:2: a record at 50 of 100 bytes can't follow one that ends at 100");
  EXPECT_SAYS(with_index("0 9223372036854775807\n"), "can't follow");
  EXPECT_SAYS(with_index("0 -5\n"), "can't follow");
  EXPECT_SAYS(with_index("0 100\nnonsense\n"), ".idx:2: expected an offset and a size");
  EXPECT_SAYS(with_index("0 99999999999999999999999\n"), "expected an offset and a size");
  EXPECT_SAYS(with_index(""), "but its index ends at 0");
  EXPECT_SAYS(with_index(fmt::format("0 {}\n", fs::file_size(shard(1)))), "holds 5 records, expected 4");
  fs::remove(index(1));
  EXPECT_SAYS(failure_to_open(), "the index " + index(1).string() + " can't be read");
  write_bytes(index(1), good);
  EXPECT_EQ(failure_to_open(), "");
  fs::remove(shard(2));
  EXPECT_SAYS(failure_to_open(), "can't open " + shard(2).string() + ": No such file");
  fs::remove_all(location);
  EXPECT_SAYS(failure_to_open(),
              "no TFRecord shard (train-00000-of-NNNNN) was found in '" + location.string());
}

// Serialized with Google's Python library: label first, with unknown features.
TEST(TfRecordExample, AnotherWritersExampleIsRead) {
  constexpr char kExample[] =
      "\n\x83\x01"
      "\n\x1b\n\x11"
      "image/class/label"
      "\x12\x06\x1a\x04\n\x02\xe7\x07"
      "\n\x10\n\x04"
      "mean"
      "\x12\x08\x12\x06\n\x04\x00\x00\x00\x3f"
      "\n\x17\n\x0c"
      "image/height"
      "\x12\x07\x1a\x05\n\x03\xac\x02\x07"
      "\n\x1c\n\x0e"
      "image/filename"
      "\x12\n\n\x08\n\x06"
      "a.JPEG"
      "\n\x1b\n\r"
      "image/encoded"
      "\x12\n\n\x08\n\x06"
      "pixels";
  const auto example = bytes_of({kExample, sizeof kExample - 1});
  const auto image = image_of_example(example);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->label, 999);
  EXPECT_EQ(std::string(image->bytes.begin(), image->bytes.end()), "pixels");
  EXPECT_EQ(image->bytes.data() + image->bytes.size(), example.data() + example.size());  // no copy
}

TEST(TfRecordExample, OurExampleComesBack) {
  for (const int64_t label : {int64_t{0}, int64_t{127}, int64_t{128}, int64_t{-1}, INT64_MAX})
    for (const size_t size : {size_t{0}, size_t{1}, size_t{300}, size_t{100'000}}) {
      const std::string encoded(size, 'x'), example = serialized_example(encoded, "train/n0/a.JPEG", label);
      const auto image = image_of_example(bytes_of(example));
      ASSERT_TRUE(image) << size;
      EXPECT_EQ(image->label, label);
      EXPECT_EQ(std::string(image->bytes.begin(), image->bytes.end()), encoded);
    }
}

TEST(TfRecordExample, DamageIsNeverReadBeyondTheEnd) {
  const std::string good = serialized_example(std::string(300, 'x'), "train/n0/a.JPEG", 7);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<uint8_t> example(good.begin(),
                                 good.end());  // exact size, so that sanitizers detect reads beyond it
    for (unsigned changes = random() % 4 + 1; changes > 0; --changes)
      example[random() % example.size()] = static_cast<uint8_t>(random());
    if (i % 3 == 0) example.resize(random() % example.size());
    example.shrink_to_fit();
    const auto image = image_of_example(example);
    refused += !image;
    if (!image || image->bytes.empty()) continue;
    ASSERT_GE(image->bytes.data(), example.data());
    ASSERT_LE(image->bytes.data() + image->bytes.size(), example.data() + example.size());
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace bench::tfrecord_test
#endif
