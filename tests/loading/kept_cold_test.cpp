// unit: a cold page cache stays cold although the set fits into memory, in every storage that has one, and
// the proof finds one that doesn't
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "bench/formats/mapped_file.h"
#include "bench/loading/storage/cache_proof.h"
#include "bench/loading/storage/page_cache.h"
#include "tests/support/failure_of.h"
#include "tests/support/loaded_batches.h"

namespace bench::kept_cold_test {

constexpr int kImages = 240;
constexpr size_t kPadding = 60'000;

// Small images that every packer can decode, made as large as photographs by bytes after their end.
Bytes image_file(int image) {
  Bytes bytes = small_jpeg(160, 160, 0, {.flat = true});
  std::mt19937 random(static_cast<unsigned>(image));
  for (size_t i = 0; i < kPadding; ++i) bytes.push_back(static_cast<uint8_t>(random()));
  return bytes;
}

class KeptCold : public testing::Test {
 protected:
  void SetUp() override {
    if (is_in_memory(BINARY_DIR)) GTEST_SKIP() << BINARY_DIR << " is not on a disk";
    if (!device_bytes_read()) GTEST_SKIP() << "/proc/self/io can't be read";
    dataset_.root = folder_.path() / "data";
    dataset_.classes = {"n00000000"};
    for (int i = 0; i < kImages; ++i) {
      const std::string path = "train/n00000000/" + std::to_string(i) + ".JPEG";
      const Bytes bytes = image_file(i);
      write_bytes(dataset_.root / path, bytes);
      dataset_.images.push_back({path, 0, static_cast<int64_t>(bytes.size())});
      records_.push_back(i);
    }
    dataset_.fingerprint = "test";
  }

  // Reads each record once, shuffled, and returns the record's `cache`.
  harness::RecordCache read_all(Storage& storage, const ReadCounts* counts, int readers) {
    std::vector<int64_t> order = records_;
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    CacheProof proof("cold", storage, records_, {}, counts);
    proof.slice_begins();
    proof.third_begins_or_ends(0);
    int64_t bytes = 0;
    for (int third = 0; third < 3; ++third) {
      std::vector<std::thread> threads;
      std::atomic<int64_t> delivered{0}, wrong{0};
      for (int thread = 0; thread < readers; ++thread)
        threads.emplace_back([&, thread] {
          const auto reader = storage.reader();
          for (int i = third * kImages / 3 + thread; i < (third + 1) * kImages / 3; i += readers) {
            const EncodedImage image = reader->read(order[size_t(i)]);
            delivered += int64_t(image.bytes.size());
            const Bytes expected = image_file(int(order[size_t(i)]));
            if (image.raw_width == 0 && !std::ranges::equal(image.bytes, expected)) ++wrong;
          }
        });
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(wrong, 0);
      proof.third_begins_or_ends(bytes += delivered);
    }
    harness::RecordCache cache = proof.slice_ended(bytes);
    violation_ = proof.violation();
    return cache;
  }

  TemporaryFolder folder_{BINARY_DIR};
  Dataset dataset_;
  std::vector<int64_t> records_;
  std::string violation_;
};

// One reader: with several, what one reads ahead of a set as small as this is a part of it that another may
// hit.
TEST_F(KeptCold, RecordsOfAShuffledSliceAreNotInTheCache) {
  int tried = 0;
  for (const Value& value : registered_values()) {
    const bool page_cache =
        value.traits.page_cache.value_or(value.name != "tmpfs" && value.name != "synthetic");
    if (value.axis != "storage" || !value.missing.empty() || !page_cache ||
        value.traits.stream.value_or(false) || value.name.starts_with("remote"))
      continue;
    SCOPED_TRACE(value.name);
    std::filesystem::path packed;
    if (value.traits.packed.value_or(false)) packed = pack(dataset_, folder_.path(), value.name).location;
    ReadCounts counts;
    const auto storage =
        kept_cold(open_storage(value.name, {dataset_, packed, true, records_}), records_, 1, counts);
    const harness::RecordCache cache = read_all(*storage, &counts, 1);
    if (cache.state == "none") continue;  // reads its file as a whole when it is opened
    ++tried;
    // What is still being read ahead when pages are dropped stays, and of a set this small is a large part.
    const bool far_ahead = cache.read_ahead_kb.value_or(0) > 512;
    EXPECT_TRUE(far_ahead || violation_.empty()) << violation_;
    EXPECT_TRUE(far_ahead || cache.state == "cold") << cache.state;
    EXPECT_EQ(counts.records, kImages);
    ASSERT_EQ(cache.device_bytes_by_third.size(), 3u);
    for (size_t third = 0; third < 3; ++third) {
      EXPECT_GT(double(cache.device_bytes_by_third[third]),
                0.9 * double(cache.encoded_bytes_by_third[third]));
      EXPECT_LT(cache.cached_records_by_third.at(third), far_ahead ? 0.5 : 0.1) << third;
    }
    EXPECT_TRUE(cache.metadata == "dropped" || cache.metadata.starts_with("kept: ")) << cache.metadata;
  }
  EXPECT_GE(tried, 3);  // files, LMDB and raw pixels need no optional library
}

TEST_F(KeptCold, ManyReadersGetTheirRecordsWhilePagesAreDropped) {
  const auto packed = pack(dataset_, folder_.path(), "lmdb").location;
  ReadCounts counts;
  const auto storage =
      kept_cold(open_storage("lmdb", {dataset_, packed, true, records_}), records_, 4, counts);
  read_all(*storage, &counts, 4);
  EXPECT_EQ(counts.records, kImages);
}

TEST_F(KeptCold, AThirdThatWasReadAheadIsFound) {
  ReadCounts counts;
  const auto storage = kept_cold(open_storage("files", {dataset_, "", true, records_}), records_, 1, counts);
  CacheProof proof("cold", *storage, records_, {}, &counts);
  proof.slice_begins();
  proof.third_begins_or_ends(0);
  const auto reader = storage->reader();
  int64_t bytes = 0;
  for (int64_t i = 0; i < kImages; ++i) {
    bytes += int64_t(reader->read(i).bytes.size());
    if ((i + 1) % (kImages / 3) == 0) proof.third_begins_or_ends(bytes);
    if (i == kImages / 2)
      read_into_page_cache(storage->cached_files(records_));  // as read-ahead of a database does
  }
  const harness::RecordCache cache = proof.slice_ended(bytes);
  EXPECT_GE(double(*cache.device_bytes), 0.95 * double(bytes)) << "the slice as a whole seems cold";
  EXPECT_LT(cache.cached_records_by_third.at(0), 0.1);
  EXPECT_EQ(cache.cached_records_by_third.at(2), 1);
  EXPECT_EQ(cache.state, "mixed");
  EXPECT_SAYS(proof.violation(), "% of the records that it read in third 2 of 3");
}

TEST_F(KeptCold, StoragesWithoutPageCacheStayAsTheyAre) {
  auto storage = open_storage("synthetic", {dataset_, "", true, records_});
  const Storage* const before = storage.get();
  ReadCounts counts;
  EXPECT_EQ(kept_cold(std::move(storage), records_, 1, counts).get(), before);
}

TEST_F(KeptCold, TheMappingOfALibraryIsFound) {
  const auto packed = pack(dataset_, folder_.path(), "lmdb").location;
  const std::filesystem::path file = packed / "data.mdb";
  EXPECT_TRUE(mapping_of(file).empty());
  const auto storage = open_storage("lmdb", {dataset_, packed, true, records_});
  const auto mapping = mapping_of(file);
  EXPECT_GE(mapping.size(), std::filesystem::file_size(file));
  const auto reader = storage->reader();
  const auto bytes = reader->read(5).bytes;
  EXPECT_GE(bytes.data(), mapping.data());
  EXPECT_LE(bytes.data() + bytes.size(), mapping.data() + mapping.size());
  storage->release_mapped_pages();
  const Bytes expected = image_file(5);
  EXPECT_TRUE(std::ranges::equal(reader->read(5).bytes, expected));
}

}  // namespace bench::kept_cold_test
