// Parquet files read in any order. A column of a row group can only be read whole: for each image the library
// reads the encoded images of up to 1,000 rows and decodes the pages before its own, as pyarrow's
// ParquetFile.read_row_group does for one row. Each loader thread opens the files for itself.
#include "bench/registry/registry.h"

namespace bench {

static const Value kParquetRandom = {"storage",
                                     "parquet_random",
                                     "Parquet files in any order: reads a row group for each image",
                                     {.packed = true}};

}  // namespace bench

#ifdef HAVE_ARROW
#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "bench/loading/storage/parquet_files.h"

namespace bench {
namespace {

// An open file, used by one thread.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : reader_(parquet::ParquetFileReader::OpenFile(path, /*memory_map=*/false)) {
    const auto facts = reader_->metadata();
    image_ = parquet_column(*facts->schema(), "image", parquet::Type::BYTE_ARRAY);
    label_ = parquet_column(*facts->schema(), "label", parquet::Type::INT64);
  }
  int64_t rows() const { return reader_->metadata()->num_rows(); }

  EncodedImage image(int64_t row, std::vector<uint8_t>& buffer) const {
    int group = 0;
    for (; row >= rows_of(group); ++group) row -= rows_of(group);
    const auto of_group = reader_->RowGroup(group);
    // The value is in its page, which lives as long as the column's reader.
    const auto images = of_group->Column(image_);
    const auto bytes = value<parquet::ByteArrayType>(*images, row);
    buffer.assign(bytes.ptr, bytes.ptr + bytes.len);
    EncodedImage image;
    image.bytes = {buffer.data(), buffer.size()};
    image.label = value<parquet::Int64Type>(*of_group->Column(label_), row);
    return image;
  }

 private:
  int64_t rows_of(int group) const {
    if (group >= reader_->metadata()->num_row_groups())
      throw parquet::ParquetException("its row groups hold fewer rows than it claims");
    return reader_->metadata()->RowGroup(group)->num_rows();
  }

  template <class Type>
  static typename Type::c_type value(parquet::ColumnReader& column, int64_t row) {
    auto& reader = static_cast<parquet::TypedColumnReader<Type>&>(column);
    typename Type::c_type result{};
    int64_t count = 0;
    if (reader.Skip(row) == row) reader.ReadBatch(1, nullptr, nullptr, &result, &count);
    if (count < 1) throw parquet::ParquetException(fmt::format("it ends before row {} of a group", row));
    return result;
  }

  std::unique_ptr<parquet::ParquetFileReader> reader_;
  int image_ = 0, label_ = 0;
};

class ParquetRandom : public ParquetFiles {
 public:
  explicit ParquetRandom(const StorageOptions& options) : ParquetFiles(options) {
    std::vector<int64_t> rows;
    for (int64_t shard = 0; shard < count(); ++shard) rows.push_back(open(shard)->rows());
    take_rows(rows, options);
  }

  std::string used() const override { return "parquet_random"; }
  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(*this); }

 private:
  class Reader : public StorageReader {
   public:
    explicit Reader(const ParquetRandom& parquet) : parquet_(parquet), files_(size_t(parquet.count())) {}
    EncodedImage read(int64_t record) override {
      const auto [shard, row] = parquet_.place_of(record);
      auto& file = files_[static_cast<size_t>(shard)];
      if (!file) file = parquet_.open(shard);
      try {
        return file->image(row, buffer_);
      } catch (const std::exception& error) {
        parquet_.fail(fmt::format("{}: record {}: {}", parquet_.file(shard).string(), record, error.what()));
      }
    }

   private:
    const ParquetRandom& parquet_;
    std::vector<std::unique_ptr<OpenFile>> files_;  // by shard, opened at its first record
    std::vector<uint8_t> buffer_;                   // the last image
  };

  std::unique_ptr<OpenFile> open(int64_t shard) const try {
    if (!std::filesystem::is_regular_file(file(shard))) throw std::runtime_error("not a regular file");
    return std::make_unique<OpenFile>(file(shard));
  } catch (const std::exception& error) {
    fail(fmt::format("{}: {}", file(shard).string(), error.what()));
  }
};

[[maybe_unused]] const bool registered_storage_parquet_random = StorageRegistry::instance().add(
    kParquetRandom, [](const StorageOptions& options) { return std::make_unique<ParquetRandom>(options); });

}  // namespace
}  // namespace bench
#else
#include "bench/loading/storage/optional_libraries.h"

namespace bench {
namespace {

const bool registered_storage_parquet_random = register_missing(kParquetRandom, kNoArrow);

}  // namespace
}  // namespace bench
#endif
