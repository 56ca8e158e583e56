// unit: packed copies hold the files, many threads read them, and no damaged or foreign file of Arrow's
// formats crashes its storage.
#include <gtest/gtest.h>
#ifdef HAVE_ARROW
#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <arrow/table.h>
#include <parquet/arrow/writer.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "bench/loading/loader/sampler.h"
#include "tests/support/failure_of.h"
#include "tests/support/stored_images.h"

namespace bench::packed_copies_test {

namespace fs = std::filesystem;

class Copies : public testing::TestWithParam<const char*> {
 protected:
  static constexpr int kImages = 41;
  TemporaryFolder folder_;
  Dataset dataset_ = small_dataset(folder_.path() / "data", kImages);
  const std::string kind_ = GetParam();
  const bool in_place_ = kind_ != "hdf5",
             sharded_ = kind_ == "parquet" || kind_ == "tfrecord" || kind_ == "raw";

  void SetUp() override {
    if (const std::string why = why_missing(kind_); !why.empty()) GTEST_SKIP() << why;
  }
  PackResult packed(size_t first = kImages) {
    Dataset dataset = dataset_;
    dataset.images.resize(first);
    return pack(dataset, folder_.path() / "store", kind_);
  }
  std::unique_ptr<Storage> open(const fs::path& location, std::vector<int64_t> records = {},
                                bool readahead = true) {
    return open_storage(kind_, {dataset_, location, readahead, std::move(records)});
  }
  // The file, or the second one, that the tests damage.
  fs::path file(const fs::path& location) {
    return location / (kind_ == "arrow"     ? "images.arrow"
                       : kind_ == "hdf5"    ? "images.h5"
                       : kind_ == "lmdb"    ? "data.mdb"
                       : kind_ == "parquet" ? "train-00001-of-00004.parquet"
                       : kind_ == "raw"     ? "train-00001-of-00004.rgb"
                                            : "train-00001-of-00004");
  }
  std::string failure_to_open(const fs::path& location) {
    return failure_of([&] { open(location); });
  }
  void expect_record(const EncodedImage& image, int64_t record) {
    if (kind_ != "raw") return bench::expect_record(image, dataset_, record);
    EXPECT_EQ(image.label, dataset_.images[static_cast<size_t>(record)].label) << record;
    EXPECT_EQ(std::min(image.raw_width, image.raw_height), 256) << record;
  }
};

TEST_P(Copies, HoldTheFiles) {
  const fs::path location = packed().location;
  EXPECT_EQ(location, folder_.path() / "store" / kind_);
  for (const bool readahead : {true, false}) {
    const auto storage = open(location, {}, readahead);
    EXPECT_EQ(storage->size(), kImages);
    EXPECT_EQ(storage->used(), kind_);
    EXPECT_EQ(storage->record_name(3), dataset_.images[3].path);
    const auto reader = storage->reader();
    for (int64_t record = 0; record < kImages; ++record) expect_record(reader->read(record), record);
    EXPECT_TRUE(!in_place_ || reader->read(7).bytes.data() == storage->reader()->read(7).bytes.data());
    EXPECT_THROW(reader->read(kImages), std::runtime_error);
    EXPECT_THROW(reader->read(-1), std::runtime_error);
  }
}

class CopiesOfFiles : public Copies {};

TEST_P(CopiesOfFiles, HoldEmptyFiles) {
  for (const size_t record : {0, 6, 11, 40}) {  // of 6 and 5 per row group
    dataset_.images[record].bytes = 0;
    write_bytes(dataset_.root / dataset_.images[record].path, {});
  }
  const auto storage = open(packed().location);
  const auto reader = storage->reader();
  for (int64_t record = 0; record < kImages; ++record) expect_record(reader->read(record), record);
}

TEST_P(Copies, AreMadeOnceForEachNumberOfImages) {
  packed();
  EXPECT_EQ(packed().note, "already packed");
  const PackResult first = packed(10);
  EXPECT_EQ(first.note, "packed 10 images");
  expect_record(open(first.location, {0, 9})->reader()->read(9), 9);
  EXPECT_THROW(open(first.location, {0, 9})->reader()->read(10), std::runtime_error);
  EXPECT_SAYS(failure_of([&] { open(first.location, {0, 10}); }), "11 are needed");
}

TEST_P(Copies, AreReadByManyThreadsInWindowedOrder) {
  const auto storage = open(packed().location);
  const Sampler sampler({kImages, Order::windowed, 1, 0, 1, 4, 3, 12});
  std::vector<std::atomic<const uint8_t*> > places(kImages);
  std::atomic<int64_t> next{0}, moved{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        const auto reader = storage->reader();
        for (int64_t i; (i = next++) < 20 * kImages;) {
          const int64_t record = sampler.at(i).record;
          const EncodedImage image = reader->read(record);
          const uint8_t* before = places[static_cast<size_t>(record)].exchange(image.bytes.data());
          moved += in_place_ && before && before != image.bytes.data();  // opened a second time
          if (i < 2 * kImages) expect_record(image, record);
        }
      });
  }
  EXPECT_EQ(moved, 0);
}

TEST_P(Copies, NameTheirFilesForThePageCache) {
  const auto location = packed().location;
  const auto storage = open(location);
  const auto all = storage->cached_files({0, 1, 20, 40}), one = storage->cached_files({12, 13});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0], file(location));
  EXPECT_EQ(all.size(), sharded_ ? 3u : 1u);
  for (const auto& path : all) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_P(Copies, SayWhatIsMissing) {
  EXPECT_SAYS(failure_to_open(""), "make_dataset pack --to " + kind_);
  const auto location = packed().location;
  fs::remove(file(location));
  const std::string message = failure_to_open(location);
  EXPECT_SAYS(message, file(location).string());
  EXPECT_SAYS(message, "make_dataset pack --to " + kind_);
}

std::string name_of(const testing::TestParamInfo<const char*>& kind) { return kind.param; }

INSTANTIATE_TEST_SUITE_P(Kinds, Copies,
                         testing::Values("arrow", "hdf5", "lmdb", "parquet", "raw", "tfrecord"), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, CopiesOfFiles,
                         testing::Values("arrow", "hdf5", "lmdb", "parquet", "tfrecord"), name_of);

class LmdbCopies : public Copies {
 protected:
  static constexpr size_t kPageBytes = 4096, kFlagsAt = 10, kLeaf = 2;  // struct MDB_page of mdb.c
  // Where the pages with records begin.
  static std::vector<size_t> leaves_of(const Bytes& pages) {
    std::vector<size_t> leaves;
    for (uint64_t page = 2, number; page < pages.size() / kPageBytes; ++page) {
      std::memcpy(&number, &pages[page * kPageBytes], sizeof number);
      if (number == page && pages[page * kPageBytes + kFlagsAt] == kLeaf) leaves.push_back(page * kPageBytes);
    }
    return leaves;
  }
};

TEST_P(LmdbCopies, ARecordThatClaimsMoreThanTheFileHoldsIsRefused) {
  const auto location = packed().location;
  Bytes pages = read_bytes(file(location));
  const Bytes key{8, 0, 0, 0, 0, 0, 0, 0, 0, 5};     // behind its length
  const Bytes claims{0xFF, 0xFF, 0xFF, 0x7F, 0, 0};  // length of the value, and no flags
  for (const size_t leaf : leaves_of(pages)) {
    const std::span page(&pages[leaf], kPageBytes);
    const auto at = std::search(page.begin(), page.end(), key.begin(), key.end());
    if (at != page.end()) std::copy(claims.begin(), claims.end(), at - 6);
  }
  write_bytes(file(location), pages);
  const auto storage = open(location);
  EXPECT_SAYS(failure_of([&] { storage->reader()->read(5); }),
              "record 5 of " + file(location).string() + ": it extends beyond the end of the file");
}

TEST_P(LmdbCopies, ADamagedPageCostsItsOwnRecordsAlone) {
  constexpr int kMany = 400;  // a leaf holds about 140 of them
  dataset_ = small_dataset(folder_.path() / "many", kMany);
  const auto location = packed(kMany).location;
  Bytes pages = read_bytes(file(location));
  const std::vector<size_t> leaves = leaves_of(pages);
  ASSERT_GT(leaves.size(), 2u);
  pages[leaves[leaves.size() / 2] + kFlagsAt] = 0;
  write_bytes(file(location), pages);
  const auto storage = open(location);
  const auto reader = storage->reader();
  int refused = 0;
  for (int64_t record = 0; record < kMany; ++record) try {
      expect_record(reader->read(record), record);
    } catch (const std::runtime_error& error) {
      EXPECT_SAYS(std::string(error.what()), "MDB_CORRUPTED");
      ++refused;
    }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, kMany / 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LmdbCopies, testing::Values("lmdb"), name_of);

class ArrowCopies : public Copies {};

TEST_P(ArrowCopies, CutOffAnywhereAreRefused) {
  const auto location = packed().location;
  for (auto size = fs::file_size(file(location)); size > 0;) {
    size -= size < 300 ? 1 : 97;
    fs::resize_file(file(location), size);
    EXPECT_SAYS(failure_to_open(location), file(location).string()) << size;
  }
}

TEST_P(ArrowCopies, ForeignFilesAreRefused) {
  const auto location = packed().location;
  for (const Bytes& foreign : {Bytes(20000, 7), read_bytes(dataset_.root / dataset_.images[0].path)}) {
    write_bytes(file(location), foreign);
    EXPECT_SAYS(failure_to_open(location), file(location).string());
  }
}

// With any damaged byte a record is read or refused, and only mapped memory is accessed.
TEST_P(ArrowCopies, DamagedBytesNeverCrash) {
  const auto location = packed().location;
  const Bytes whole = read_bytes(file(location));
  std::fstream stream(file(location), std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](size_t at, int byte) {
    stream.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte)).flush();
  };
  int refused = 0;
  uint64_t sum = 0;
  const auto step_at = [&](size_t at) {  // every byte of the metadata at both ends
    return at < 1500 || at + 2500 > whole.size() ? size_t{1} : size_t{41};
  };
  for (size_t at = 0; at < whole.size(); at += step_at(at)) {
    put(at, whole[at] ^ (at % 2 == 0 ? 0xFF : 0x81));
    try {
      const auto storage = open(location);
      const auto reader = storage->reader();
      for (int64_t record = 0; record < kImages; ++record) try {
          for (const uint8_t byte : reader->read(record).bytes) sum += byte;
        } catch (const std::runtime_error&) {
          ++refused;
        }
    } catch (const std::runtime_error&) {
      ++refused;
    }
    put(at, whole[at]);
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(sum, 0u);
  expect_record(open(location)->reader()->read(12), 12);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ArrowCopies, testing::Values("arrow", "parquet"), name_of);

#ifdef HAVE_ARROW
// Files of other writers: valid, but not readable in place.
class ForeignColumns : public testing::Test {
 protected:
  static std::shared_ptr<arrow::Table> table(const std::shared_ptr<arrow::DataType>& label_type,
                                             bool nullable) {
    arrow::BinaryBuilder images;
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(images.Append(std::string(1000, 'a')).ok());
    std::unique_ptr<arrow::ArrayBuilder> labels;
    EXPECT_TRUE(arrow::MakeBuilder(arrow::default_memory_pool(), label_type, &labels).ok());
    EXPECT_TRUE(labels->AppendEmptyValues(40).ok());
    return arrow::Table::Make(arrow::schema({arrow::field("image", arrow::binary(), nullable),
                                             arrow::field("label", label_type, nullable)}),
                              {*images.Finish(), *labels->Finish()});
  }
  std::string parquet_failure(const arrow::Table& table,
                              const std::shared_ptr<parquet::WriterProperties>& properties) {
    const auto file = folder_.path() / "train-00000-of-00001.parquet";
    EXPECT_TRUE(parquet::arrow::WriteTable(table, arrow::default_memory_pool(),
                                           *arrow::io::FileOutputStream::Open(file.string()), 40, properties)
                    .ok());
    return failure("parquet");
  }
  std::string arrow_failure(const arrow::Table& table, arrow::Compression::type compression) {
    auto options = arrow::ipc::IpcWriteOptions::Defaults();
    options.codec = *arrow::util::Codec::Create(compression);
    auto writer = *arrow::ipc::MakeFileWriter(
        *arrow::io::FileOutputStream::Open((folder_.path() / "images.arrow").string()), table.schema(),
        options);
    EXPECT_TRUE(writer->WriteTable(table).ok() && writer->Close().ok());
    return failure("arrow");
  }
  std::string failure(const char* kind) {
    return failure_of([&] {
      const auto storage = open_storage(kind, {dataset_, folder_.path(), true, {}});
      EXPECT_EQ(storage->reader()->read(39).bytes.size(), 1000u);
    });
  }
  TemporaryFolder folder_;
  Dataset dataset_ = small_dataset(folder_.path() / "data", 40);
};

TEST_F(ForeignColumns, OfParquet) {
  const auto plainly = parquet::WriterProperties::Builder().disable_dictionary()->build();
  EXPECT_EQ(parquet_failure(*table(arrow::int64(), false), plainly), "");
  EXPECT_SAYS(parquet_failure(*table(arrow::int32(), false), plainly), "no column label");
  EXPECT_EQ(parquet_failure(*table(arrow::int64(), true), plainly), "");
  const auto dictionary = parquet::WriterProperties::Builder().build();
  EXPECT_SAYS(parquet_failure(*table(arrow::int64(), false), dictionary), "encoded");
  const auto zstd = parquet::WriterProperties::Builder()
                        .disable_dictionary()
                        ->compression(parquet::Compression::ZSTD)
                        ->build();
  EXPECT_SAYS(parquet_failure(*table(arrow::int64(), false), zstd), "compressed");
}

TEST_F(ForeignColumns, OfArrow) {
  EXPECT_EQ(arrow_failure(*table(arrow::int64(), true), arrow::Compression::UNCOMPRESSED), "");
  EXPECT_SAYS(arrow_failure(*table(arrow::int32(), false), arrow::Compression::UNCOMPRESSED), "no columns");
  EXPECT_SAYS(arrow_failure(*table(arrow::int64(), false), arrow::Compression::LZ4_FRAME), "compressed");
}

#endif

}  // namespace bench::packed_copies_test
