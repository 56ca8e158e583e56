// One mapped Parquet file of a packed copy; its row groups are opened at the first read.
#pragma once
#include <arrow/array/array_binary.h>
#include <arrow/array/array_primitive.h>
#include <parquet/api/reader.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "bench/formats/mapped_file.h"
#include "bench/loading/storage/storage.h"

namespace bench {

class ParquetShard {
 public:
  // Throws std::runtime_error (file, reason and next step) unless this is a Parquet file with the packer's
  // columns and at most `most_rows` rows.
  ParquetShard(const std::filesystem::path& file, bool readahead, int64_t most_rows);

  int64_t rows() const { return ends_.empty() ? 0 : ends_.back(); }

  // Thread-safe; 0 <= row < rows(). The bytes are in the mapped file and valid for the lifetime of this
  // object. Throws as the constructor.
  EncodedImage image(int64_t row);

 private:
  struct RowGroup {
    arrow::BinaryViewArray images;
    arrow::Int64Array labels;
  };
  struct Slot {
    std::atomic<const RowGroup*> ready{nullptr};
    std::atomic<bool> fetched{false};
    size_t offset = 0, bytes = 0;  // of the images, from the file's metadata
    std::unique_ptr<const RowGroup> group;
  };

  [[noreturn]] void fail(const std::string& why) const;
  void read_facts(int64_t most_rows);
  void fetch(size_t number);
  const RowGroup* open(size_t number);
  std::unique_ptr<const RowGroup> read(size_t number) const;
  arrow::BinaryViewArray views(const std::vector<parquet::ByteArray>& values) const;

  std::filesystem::path file_;
  MappedFile mapped_;
  std::unique_ptr<parquet::ParquetFileReader> reader_;
  int image_ = 0, label_ = 0;
  std::vector<int64_t> ends_;  // per row group: number of its last row + 1
  std::vector<Slot> slots_;    // per row group
  std::mutex opening_;
};

}  // namespace bench
