// Images as Arrow rows of image, label and path: what the Arrow and the Parquet copy are written from.
#pragma once
#include <arrow/buffer_builder.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "bench/formats/index.h"

namespace bench {

// image: binary, label: int64, path: utf8 (bytes of the file's name, whatever their encoding); nothing is
// null.
std::shared_ptr<arrow::Schema> arrow_schema();

// Batches of `rows` records, fewer where they would exceed 256 MiB: bounds the packer's memory. A single
// larger image has a batch of its own.
class ArrowRows {
 public:
  explicit ArrowRows(const Dataset& dataset) : dataset_(dataset) {}
  // Begins a batch with record `first`, none behind `last`.
  void begin(int64_t first, int64_t last, int64_t rows);
  bool done() const { return record_ == end_; }  // the batch that was begun is complete
  void add(int descriptor);                      // the next record, read from an open file
  std::shared_ptr<arrow::RecordBatch> finish();

 private:
  const Dataset& dataset_;
  int64_t record_ = 0, end_ = 0;
  arrow::BufferBuilder images_, paths_;
  arrow::TypedBufferBuilder<int32_t> image_offsets_, path_offsets_;
  arrow::TypedBufferBuilder<int64_t> labels_;
};

// A file that is flushed to the disk when it is closed; a failure names it and the next step.
class ArrowFile {
 public:
  explicit ArrowFile(const std::filesystem::path& file);
  const std::shared_ptr<arrow::io::FileOutputStream>& stream() const { return stream_; }
  void check(const arrow::Status& status) const;
  void close();

 private:
  std::filesystem::path file_;
  std::shared_ptr<arrow::io::FileOutputStream> stream_;
};

}  // namespace bench
