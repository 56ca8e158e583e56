// Images as Arrow rows of image and label. Both the Arrow and the Parquet packer write these rows.
#pragma once
#include <arrow/buffer_builder.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "bench/dataset/pack.h"

namespace bench {

// Key in a schema's metadata under which Hugging Face's datasets keeps the columns' types and class names.
inline constexpr const char* kFeatures = "huggingface";

// Columns as Hugging Face's datasets has them: image (struct of bytes and path; the path's raw bytes,
// unchecked) and label (int64). It takes the metadata into account only if the types are exactly these.
std::shared_ptr<arrow::Schema> arrow_schema(const std::vector<std::string>& classes);

// Collects batches of `rows` records, fewer where a batch would exceed 256 MiB, to bound the packer's memory.
// An image above 256 MiB becomes a batch with one record.
class ArrowRows {
 public:
  explicit ArrowRows(const Dataset& dataset) : dataset_(dataset), schema_(arrow_schema(dataset.classes)) {}
  // Begins a batch at record `first` that ends at record `last` (inclusive) at the latest.
  void begin(int64_t first, int64_t last, int64_t rows);
  bool done() const { return record_ == end_; }  // the batch is complete
  void add(const OpenImage& image);              // appends the next record
  std::shared_ptr<arrow::RecordBatch> finish();

 private:
  const Dataset& dataset_;
  const std::shared_ptr<arrow::Schema> schema_;
  int64_t record_ = 0, end_ = 0;
  arrow::BufferBuilder images_, paths_;
  arrow::TypedBufferBuilder<int32_t> image_offsets_, path_offsets_;
  arrow::TypedBufferBuilder<int64_t> labels_;
};

// An output file; errors name it and the next step.
class ArrowFile {
 public:
  explicit ArrowFile(const std::filesystem::path& file);
  const std::shared_ptr<arrow::io::FileOutputStream>& stream() const { return stream_; }
  void check(const arrow::Status& status) const;
  void close() { check(stream_->Close()); }

 private:
  std::filesystem::path file_;
  std::shared_ptr<arrow::io::FileOutputStream> stream_;
};

}  // namespace bench
