// Parquet files, streamed row group by row group. The first thread that reads a record of a group opens it:
// this reads only the page headers and the length before each image (Parquet's Arrow reader would copy all).
// Memory: 24 bytes per record of the groups opened so far. The kernel prefetches the next group while the
// second half of a group is read.
#include "bench/formats/optional_libraries.h"
#include "bench/loading/storage/storage.h"

#ifdef HAVE_ARROW
#include <fmt/format.h>

#include <cstdio>

#include "bench/formats/shards.h"
#include "bench/loading/storage/file_reader.h"
#include "bench/loading/storage/parquet_shard.h"
#endif

namespace bench {
namespace {

const Value kParquet = {"storage",
                        "parquet",
                        "Parquet files, streamed row group by row group into Arrow",
                        {.packed = true, .stream = true}};

#ifndef HAVE_ARROW
[[maybe_unused]] const bool registered_storage_parquet = register_missing(kParquet, kNoArrow);
#else

namespace fs = std::filesystem;

class Parquet : public SharedStorage, PackedCopy {
 public:
  explicit Parquet(const StorageOptions& options)
      : SharedStorage("parquet", options.dataset),
        PackedCopy("parquet", options,
                   fmt::format("the Parquet files in {} can't be used:", options.location.string())),
        count_(count_files()) {
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
    require(records);
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

  const int64_t count_;
  std::vector<std::unique_ptr<ParquetShard> > files_;
  Shards shards_;
};

[[maybe_unused]] const bool registered_storage_parquet =
    StorageRegistry::instance().add(kParquet, [](const StorageOptions& options) -> std::unique_ptr<Storage> {
      if (options.location == options.dataset.root) return files_in_place("parquet", options);
      return std::make_unique<Parquet>(options);
    });
#endif

}  // namespace
}  // namespace bench
