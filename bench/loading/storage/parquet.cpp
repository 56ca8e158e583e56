// Parquet files, streamed row group by row group (at most 1,000 rows) into Arrow arrays that refer to the
// mapped file. The first thread that reads a record of a row group opens it: this reads only the page headers
// and the length before each image, because the packer uses plain encoding. (Parquet's Arrow reader would
// copy every group.) Memory: 24 bytes per record of the groups opened so far. Opening accesses pages of the
// whole group, which on a cold disk costs as much as reading it; so records must be read approximately in
// stored order. The kernel prefetches the next group while the second half of a group is read.
#include "bench/registry/registry.h"

namespace bench {

static const Value kParquet = {"storage",
                               "parquet",
                               "Parquet files, streamed row group by row group into Arrow",
                               {.packed = true, .stream = true}};

}  // namespace bench

#ifdef HAVE_ARROW
#include <fmt/format.h>

#include "bench/loading/storage/parquet_files.h"
#include "bench/loading/storage/parquet_shard.h"

namespace bench {
namespace {

class Parquet : public ParquetFiles {
 public:
  explicit Parquet(const StorageOptions& options) : ParquetFiles(options) {
    std::vector<int64_t> rows;
    for (int64_t shard = 0; shard < count(); ++shard) {
      files_.push_back(std::make_unique<ParquetShard>(file(shard), options.readahead, size()));
      rows.push_back(files_.back()->rows());
    }
    take_rows(rows, options);
  }

  std::string used() const override { return "parquet"; }
  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(*this); }

 private:
  class Reader : public StorageReader {
   public:
    explicit Reader(const Parquet& parquet) : parquet_(parquet) {}
    EncodedImage read(int64_t record) override {
      const auto [shard, row] = parquet_.place_of(record);
      return parquet_.files_[static_cast<size_t>(shard)]->image(row);
    }

   private:
    const Parquet& parquet_;
  };

  std::vector<std::unique_ptr<ParquetShard>> files_;
};

[[maybe_unused]] const bool registered_storage_parquet = StorageRegistry::instance().add(
    kParquet, [](const StorageOptions& options) { return std::make_unique<Parquet>(options); });

}  // namespace
}  // namespace bench
#else
#include "bench/loading/storage/optional_libraries.h"

namespace bench {
namespace {

const bool registered_storage_parquet = register_missing(kParquet, kNoArrow);

}  // namespace
}  // namespace bench
#endif
