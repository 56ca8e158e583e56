// Parquet files, streamed row group by row group (at most 1,000 rows) into Arrow arrays that refer to the
// mapped file. The first thread that reads a record of a row group opens it: this reads only the page headers
// and the length before each image, because the packer uses plain encoding. (Parquet's Arrow reader would
// copy every group.) Memory: 24 bytes per record of the groups opened so far. Opening accesses pages of the
// whole group, which on a cold disk costs as much as reading it; so records must be read approximately in
// stored order. The kernel prefetches the next group while the second half of a group is read.
#include "bench/loading/storage/optional_libraries.h"
#include "bench/loading/storage/storage.h"

#ifdef HAVE_ARROW
#include <fmt/format.h>

#include <cstdio>

#include "bench/formats/shards.h"
#include "bench/loading/storage/file_reader.h"
#include "bench/loading/storage/parquet_shard.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

class Parquet : public SharedStorage {
 public:
  explicit Parquet(const StorageOptions& options)
      : SharedStorage("parquet", options.dataset), location_(options.location), count_(count_files()) {
    int64_t records = 0;
    for (int64_t shard = 0; shard < count_; ++shard) {
      files_.push_back(std::make_unique<ParquetShard>(file(shard), options.readahead, size()));
      records += files_.back()->rows();
    }
    shards_ = {records, count_};
    for (int64_t shard = 0; shard < count_; ++shard)
      if (const int64_t rows = files_[size_t(shard)]->rows(); rows != shards_.size(shard))
        fail(fmt::format("{} holds {} records instead of {}", file(shard).filename().string(), rows,
                         shards_.size(shard)));
    const int64_t needed = records_needed(options);
    if (records < needed) fail(fmt::format("they hold {} records and {} are needed", records, needed));
  }

  std::vector<fs::path> cached_files(const std::vector<int64_t>& records) const override {
    return files_holding(shards_, records, [this](int64_t shard) { return file(shard); });
  }

 private:
  EncodedImage image(int64_t record) const override {
    if (record < 0 || record >= shards_.records)
      fail(fmt::format("record {} is not among their {} records", record, shards_.records));
    const int64_t shard = shards_.holding(record);
    return files_[size_t(shard)]->image(record - shards_.start(shard));
  }

  fs::path file(int64_t shard) const {
    return location_ / fmt::format("train-{:05}-of-{:05}.parquet", shard, count_);
  }

  // Each file name contains the number of files.
  int64_t count_files() const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(location_, error)) {
      unsigned shard = 0, count = 0;
      if (std::sscanf(entry.path().filename().c_str(), "train-%5u-of-%5u.parquet", &shard, &count) == 2 &&
          shard < count && count <= size())
        return count;
    }
    fail(error ? error.message() : "no file train-NNNNN-of-NNNNN.parquet");
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(fmt::format("the Parquet files in {} can't be used: {}; {}", location_.string(),
                                         why, pack_again("parquet", location_)));
  }

  const fs::path location_;
  const int64_t count_;
  std::vector<std::unique_ptr<ParquetShard>> files_;
  Shards shards_;
};

}  // namespace
}  // namespace bench
#endif

namespace bench {
namespace {

const Value kParquet = {"storage",
                        "parquet",
                        "Parquet files, streamed row group by row group into Arrow",
                        {.packed = true, .stream = true}};

[[maybe_unused]] const bool registered_storage_parquet =
#ifdef HAVE_ARROW
    StorageRegistry::instance().add(kParquet, [](const StorageOptions& options) -> std::unique_ptr<Storage> {
      if (options.location == options.dataset.root) return files_in_place("parquet", options);
      return std::make_unique<Parquet>(options);
    });
#else
    register_missing(kParquet, kNoArrow);
#endif

}  // namespace
}  // namespace bench
