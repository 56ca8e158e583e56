// The Parquet files of a packed copy, for the storages that read them.
#pragma once
#include <parquet/api/reader.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/formats/shards.h"
#include "bench/loading/storage/storage.h"

namespace bench {

// Number of the column with this name and physical type, without nulls or repetition. Throws
// parquet::ParquetException if the schema has none.
int parquet_column(const parquet::SchemaDescriptor& schema, const char* name, parquet::Type::type type);

class ParquetFiles : public DatasetStorage {
 public:
  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>& records) const override;

 protected:
  // Counts the files; throws std::runtime_error with the next step if there are none.
  explicit ParquetFiles(const StorageOptions& options);
  // rows: of each file. Throws if they aren't the data set's, or too few.
  void take_rows(const std::vector<int64_t>& rows, const StorageOptions& options);

  int64_t count() const { return count_; }
  std::filesystem::path file(int64_t shard) const;
  // The record's file, and its row there. Throws if there is no such record.
  std::pair<int64_t, int64_t> place_of(int64_t record) const;
  [[noreturn]] void fail(const std::string& why) const;

 private:
  int64_t count_files() const;

  const std::filesystem::path location_;
  const int64_t count_;
  Shards shards_;
};

}  // namespace bench
