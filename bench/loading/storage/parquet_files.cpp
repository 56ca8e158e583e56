#ifdef HAVE_ARROW
#include "bench/loading/storage/parquet_files.h"

#include <fmt/format.h>

#include <cstdio>
#include <numeric>

namespace bench {

namespace fs = std::filesystem;

int parquet_column(const parquet::SchemaDescriptor& schema, const char* name, parquet::Type::type type) {
  const int index = schema.ColumnIndex(name);
  if (index < 0 || schema.Column(index)->physical_type() != type ||
      schema.Column(index)->max_definition_level() > 0 || schema.Column(index)->max_repetition_level() > 0)
    throw parquet::ParquetException(
        fmt::format("it has no column {} of type {} (non-nullable)", name, parquet::TypeToString(type)));
  return index;
}

ParquetFiles::ParquetFiles(const StorageOptions& options)
    : DatasetStorage(options.dataset), location_(options.location), count_(count_files()) {}

void ParquetFiles::take_rows(const std::vector<int64_t>& rows, const StorageOptions& options) {
  const int64_t records = std::accumulate(rows.begin(), rows.end(), int64_t(0));
  shards_ = {records, count_};
  for (int64_t shard = 0; shard < count_; ++shard)
    if (rows[static_cast<size_t>(shard)] != shards_.size(shard))
      fail(fmt::format("{} holds {} records instead of {}", file(shard).filename().string(),
                       rows[static_cast<size_t>(shard)], shards_.size(shard)));
  const int64_t needed = records_needed(options);
  if (records < needed) fail(fmt::format("they hold {} records and {} are needed", records, needed));
}

std::vector<fs::path> ParquetFiles::cached_files(const std::vector<int64_t>& records) const {
  return files_holding(shards_, records, [this](int64_t shard) { return file(shard); });
}

fs::path ParquetFiles::file(int64_t shard) const {
  return location_ / fmt::format("train-{:05}-of-{:05}.parquet", shard, count_);
}

std::pair<int64_t, int64_t> ParquetFiles::place_of(int64_t record) const {
  if (record < 0 || record >= shards_.records)
    fail(fmt::format("record {} is not among their {} records", record, shards_.records));
  const int64_t shard = shards_.holding(record);
  return {shard, record - shards_.start(shard)};
}

void ParquetFiles::fail(const std::string& why) const {
  throw std::runtime_error(fmt::format("the Parquet files in {} can't be used: {}; {}", location_.string(),
                                       why, pack_again("parquet", location_)));
}

// Each file name contains the number of files.
int64_t ParquetFiles::count_files() const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(location_, error)) {
    unsigned shard = 0, count = 0;
    if (std::sscanf(entry.path().filename().c_str(), "train-%5u-of-%5u.parquet", &shard, &count) == 2 &&
        shard < count && count <= size())
      return count;
  }
  fail(error ? error.message() : "no file train-NNNNN-of-NNNNN.parquet");
}

}  // namespace bench
#endif
