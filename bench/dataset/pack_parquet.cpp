// Packs into Parquet files, `train-00000-of-00NNN.parquet`, of at least two row groups each. Images are
// stored uncompressed with plain encoding (JPEG data doesn't compress further), so that a reader can use them
// without a copy.
#ifdef HAVE_ARROW
#include <arrow/table.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <optional>

#include "bench/dataset/arrow_rows.h"
#include "bench/formats/shards.h"

namespace bench {
namespace {

constexpr int64_t kMostRows = 1000;

std::shared_ptr<parquet::WriterProperties> properties() {
  parquet::WriterProperties::Builder builder;
  builder.compression(parquet::Compression::UNCOMPRESSED);
  builder.disable_dictionary("image.bytes")
      ->encoding("image.bytes", parquet::Encoding::PLAIN)
      ->disable_statistics("image.bytes");
  builder.write_batch_size(1);  // check the page size after each value: a page ends soon after 1 MiB
  builder.max_row_group_length(kMostRows);
  return builder.build();
}

class ParquetShardFile {
 public:
  ParquetShardFile(const std::filesystem::path& file, const arrow::Schema& schema) : file_(file) {
    auto opened =
        parquet::arrow::FileWriter::Open(schema, arrow::default_memory_pool(), file_.stream(), properties(),
                                         parquet::ArrowWriterProperties::Builder().store_schema()->build());
    file_.check(opened.status());
    writer_ = *std::move(opened);
  }
  void write_row_group(std::shared_ptr<arrow::RecordBatch> batch) {
    const int64_t rows = batch->num_rows();
    const auto table = arrow::Table::FromRecordBatches({std::move(batch)});
    file_.check(table.status());
    file_.check(writer_->WriteTable(**table, rows));
  }
  void close() {
    file_.check(writer_->Close());
    file_.close();
  }

 private:
  ArrowFile file_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

void write_files(const Dataset& dataset, const std::filesystem::path& folder) {
  const Shards shards = shards_of(dataset);
  ArrowRows rows(dataset);
  std::optional<ParquetShardFile> file;
  for_each_image(dataset, "pack parquet", [&](const OpenImage& image) {
    const int64_t shard = shards.holding(image.record), last = shards.start(shard + 1) - 1;
    if (image.record == shards.start(shard))
      file.emplace(folder / shards.file_name(shard, ".parquet"), *arrow_schema(dataset.classes));
    if (rows.done()) rows.begin(image.record, last, std::min(kMostRows, (shards.size(shard) + 1) / 2));
    rows.add(image);
    if (rows.done()) file->write_row_group(rows.finish());
    if (image.record == last) file->close();
  });
}

const bool registered_dataset_pack_parquet =
    add_packer("parquet", "Parquet files of about 128 MiB in record order, uncompressed", 1, write_files);

}  // namespace
}  // namespace bench
#endif
