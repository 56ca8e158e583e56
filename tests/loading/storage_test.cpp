// unit: every storage gives a record's bytes and label, says what it used and fails with a clear message.
#include "bench/loading/storage/storage.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <thread>

#include "harness/base/file.h"
#include "harness/base/stopwatch.h"
#include "tests/support/failure_of.h"
#include "tests/support/loaded_batches.h"

namespace bench::storage_test {

std::string failure_to_open(const std::string& name, const StorageOptions& options) {
  return failure_of([&] { open_storage(name, options)->reader(); });
}

void expect_records(Storage& storage, const Dataset& dataset) {
  EXPECT_EQ(storage.size(), static_cast<int64_t>(dataset.images.size()));
  const auto one = storage.reader(), other = storage.reader();
  for (const int64_t record : {9, 0, 5, 5, 17}) {
    const EncodedImage image = one->read(record);
    expect_record(other->read(record), dataset, record);
    expect_record(image, dataset, record);
    EXPECT_EQ(storage.record_name(record), dataset.images[static_cast<size_t>(record)].path);
  }
}

class Storages : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Dataset dataset_ = small_dataset(folder_.path() / "data", 18);
};

TEST_F(Storages, Files) {
  for (const bool readahead : {true, false}) {
    const auto storage = open_storage("files", {dataset_, "", readahead, {}});
    expect_records(*storage, dataset_);
    EXPECT_EQ(storage->used(), "files");
    const auto files = storage->cached_files({3, 4});
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files[0], dataset_.root / dataset_.images[3].path);
  }
}

TEST_F(Storages, TmpfsReadsItsCopy) {
  std::filesystem::copy(dataset_.root, folder_.path() / "copy", std::filesystem::copy_options::recursive);
  const auto storage = open_storage("tmpfs", {dataset_, folder_.path() / "copy", true, {}});
  expect_records(*storage, dataset_);
  EXPECT_EQ(storage->used(), "tmpfs");
  EXPECT_TRUE(storage->cached_files({1}).empty());
}

TEST_F(Storages, TmpfsFallsBackToMemory) {
  std::filesystem::remove(dataset_.root / dataset_.images[2].path);
  const auto storage = open_storage("tmpfs", {dataset_, "", true, {0, 2, 5, 9}});
  EXPECT_EQ(storage->used(), "memory");
  EXPECT_TRUE(storage->cached_files({1}).empty());
  EXPECT_THROW(storage->reader()->read(2), std::runtime_error);  // bad on the disk already
  expect_records(*storage, dataset_);  // 17 isn't kept: a replacement comes from the disk
  const Bytes kept = read_bytes(dataset_.root / dataset_.images[9].path);
  std::filesystem::remove_all(dataset_.root / "train" / "n00000001");
  const EncodedImage image = storage->reader()->read(9);
  EXPECT_EQ(Bytes(image.bytes.begin(), image.bytes.end()), kept);
}

TEST_F(Storages, LmdbNamesWhatIsWrong) {
  const auto location = folder_.path() / "lmdb", file = location / "data.mdb";
  const auto message = [&] { return failure_to_open("lmdb", {dataset_, location, true, {}}); };
  EXPECT_SAYS(message(), file.string() + " not found");
  pack(dataset_, folder_.path(), "lmdb");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 8192);
  EXPECT_SAYS(message(), "cut off");
  write_bytes(file, Bytes(20000, 7));
  EXPECT_SAYS(message(), "can't be opened");
}

TEST_F(Storages, FilesNameWhatIsWrong) {
  const auto storage = open_storage("files", {dataset_, "", true, {}});
  const auto reader = storage->reader();
  const auto file = dataset_.root / dataset_.images[4].path;
  const auto message = [&] { return failure_of([&] { reader->read(4); }); };
  std::filesystem::remove(file);
  EXPECT_SAYS(message(), file.string());
  std::filesystem::create_directory(file);
  EXPECT_SAYS(message(), "not a regular file");
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);  // has no writer: must not wait
  EXPECT_SAYS(message(), "not a regular file");
  EXPECT_EQ(reader->read(5).label, 0);  // the reader goes on
  Dataset nowhere = dataset_;
  nowhere.root /= "gone";
  EXPECT_SAYS(failure_to_open("files", {nowhere, "", true, {}}), "--data");
}

TEST_F(Storages, SyntheticGeneratesBatches) {
  const auto storage = open_storage("synthetic", {});
  EXPECT_TRUE(storage->generates_batches());
  EXPECT_TRUE(storage->cached_files({}).empty());
  EXPECT_EQ(storage->used(), "synthetic");
}

TEST_F(Storages, TraitsSayWhatMustBePacked) {
  for (const Value& value : registered_values()) {
    if (value.axis != "storage") continue;
    const bool packer =
        std::any_of(registered_values().begin(), registered_values().end(),
                    [&](const Value& other) { return other.axis == "pack" && other.name == value.name; });
    EXPECT_EQ(value.traits.packed.value_or(false) && value.missing.empty(), packer) << value.name;
    EXPECT_EQ(value.traits.transient.value_or(false), value.name == "tmpfs") << value.name;
  }
}

TEST_F(Storages, TraitsSayWhereThereIsNoPageCache) {
  std::set<std::string> without;
  for (const Value& value : registered_values())
    if (value.axis == "storage" && value.traits.page_cache == false) without.insert(value.name);
  EXPECT_EQ(without, (std::set<std::string>{"hdf5_whole", "remote", "remote_mounted", "synthetic", "tmpfs"}));
}

// Otherwise the two could differ, and only a build without the library would show it.
TEST(StorageFiles, StateAValueOnceForBuildsWithAndWithoutItsLibrary) {
  const auto times = [](const std::string& text, const std::string& word) {
    size_t count = 0;
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++count;
    return count;
  };
  size_t optional = 0;
  for (const auto& file : std::filesystem::directory_iterator(SOURCE_DIR "/bench/loading/storage")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = base::read_file(file.path());
    const size_t missing = times(text, "register_missing(");
    if (missing == 0) continue;
    EXPECT_EQ(times(text, "\"storage\","), missing) << file.path();
    optional += missing;
  }
  EXPECT_GE(optional, 6u);
}

TEST_F(Storages, AreKnownByNameWithoutTheirLibrary) {
  for (const char* name : {"arrow", "parquet", "hdf5", "hdf5_whole", "tfrecord", "remote"}) {
    const std::string why = why_missing(name);
    if (why.empty()) continue;
    EXPECT_SAYS(why, "build again") << ": no next step";
    EXPECT_THROW(open_storage(name, {}), std::invalid_argument);
  }
}

double seconds_to_read(Storage& storage, int records, int threads) {
  const base::Stopwatch watch;
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      const auto reader = storage.reader();
      for (int i = t; i < records; i += threads) reader->read(i);
    });
  for (std::thread& thread : pool) thread.join();
  return watch.s();
}

TEST_F(Storages, ThrottledRateIsSharedByReaders) {
  double bytes = 0;
  for (const auto& image : dataset_.images) bytes += static_cast<double>(image.bytes);
  for (const int threads : {1, 4}) {
    const auto storage = throttled(open_storage("files", {dataset_, "", true, {}}), bytes / 0.4, 0);
    const double seconds = seconds_to_read(*storage, 18, threads);
    EXPECT_GT(seconds, 0.37);
    EXPECT_LT(seconds, 0.8);
  }
}

TEST_F(Storages, ThrottledLatencyIsPerRecordAndReader) {
  const auto storage = throttled(open_storage("files", {dataset_, "", true, {}}), 0, 20);
  EXPECT_GE(seconds_to_read(*storage, 18, 1), 0.36);
  EXPECT_LT(seconds_to_read(*storage, 18, 6), 0.3);
  EXPECT_EQ(storage->used(), "files");
  EXPECT_EQ(storage->cached_files({1}).size(), 1u);
}

TEST_F(Storages, UnthrottledIsLeftAlone) {
  auto storage = open_storage("files", {dataset_, "", true, {}});
  const Storage* before = storage.get();
  EXPECT_EQ(throttled(std::move(storage), 0, 0).get(), before);
}

}  // namespace bench::storage_test
