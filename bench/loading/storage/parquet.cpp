// Parquet files, streamed row group by row group. The first thread that reads a record of a group opens it:
// this reads only the page headers and the length before each image (Parquet's Arrow reader would copy all).
// Memory: 24 bytes per record of the groups opened so far. The kernel prefetches the next group while the
// second half of a group is read.
#include "bench/formats/optional_libraries.h"
#include "bench/loading/storage/storage.h"

#ifdef HAVE_ARROW
#include <arrow/array/array_binary.h>
#include <arrow/array/array_primitive.h>
#include <arrow/io/memory.h>
#include <arrow/util/binary_view_util.h>
#include <fmt/format.h>
#include <parquet/api/reader.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <mutex>

#include "bench/formats/mapped_file.h"
#include "bench/formats/shards.h"
#include "bench/loading/storage/files.h"
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
using parquet::ParquetException;

// Number of the column with this physical type and one of these names, without repetition.
int column_of(const parquet::SchemaDescriptor& schema, std::initializer_list<const char*> names,
              parquet::Type::type type) {
  for (const char* name : names)
    if (const int index = schema.ColumnIndex(name); index >= 0 &&
                                                    schema.Column(index)->physical_type() == type &&
                                                    schema.Column(index)->max_repetition_level() == 0)
      return index;
  throw ParquetException(
      fmt::format("it has no column {} of type {}", *names.begin(), parquet::TypeToString(type)));
}

template <class Type>
std::vector<typename Type::c_type> column_values(parquet::ColumnReader& column, int64_t rows) {
  auto& reader = static_cast<parquet::TypedColumnReader<Type>&>(column);
  std::vector<typename Type::c_type> values(static_cast<size_t>(rows));
  std::vector<int16_t> levels(values.size());
  for (int64_t done = 0, count = 0; done < rows; done += count) {
    if (reader.ReadBatch(rows - done, levels.data(), nullptr, values.data() + done, &count) != count)
      throw ParquetException("it has nulls");
    if (count < 1) throw ParquetException(fmt::format("it ends after {} of {} rows", done, rows));
  }
  return values;
}

// One mapped file; its row groups are opened at the first read.
class ParquetShard {
 public:
  // Throws std::runtime_error (file, reason and next step) unless this is a Parquet file with the packer's
  // columns and at most `most_rows` rows.
  ParquetShard(const std::filesystem::path& file, bool readahead, int64_t most_rows)
      : file_(file), mapped_(file, readahead, pack_again("parquet", file.parent_path())) {
    try {
      read_facts(most_rows);
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  int64_t rows() const { return ends_.empty() ? 0 : ends_.back(); }

  // Thread-safe; 0 <= row < rows(). The bytes are in the mapped file and valid for the lifetime of this
  // object. Throws as the constructor.
  EncodedImage image(int64_t row) {
    const auto number =
        static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), row) - ends_.begin());
    const RowGroup* group = slots_[number].ready.load(std::memory_order_acquire);
    if (!group) group = open(number);
    const int64_t length = group->labels.length(), index = row - (ends_[number] - length);
    if (2 * index >= length) fetch(number + 1);
    const std::string_view bytes = group->images.GetView(index);
    EncodedImage image;
    image.bytes = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
    image.label = group->labels.Value(index);
    touch_pages(image.bytes);
    return image;
  }

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

  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(fmt::format("the Parquet file {} can't be used: {}; {}", file_.string(), why,
                                         pack_again("parquet", file_.parent_path())));
  }

  void read_facts(int64_t most_rows) {
    const auto bytes = mapped_.bytes();
    reader_ = parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(
        std::make_shared<arrow::Buffer>(bytes.data(), static_cast<int64_t>(bytes.size()))));
    const auto facts = reader_->metadata();
    image_ = column_of(*facts->schema(), {"image.bytes", "image"}, parquet::Type::BYTE_ARRAY);
    label_ = column_of(*facts->schema(), {"label"}, parquet::Type::INT64);
    slots_ = std::vector<Slot>(static_cast<size_t>(facts->num_row_groups()));
    for (int i = 0; i < facts->num_row_groups(); ++i) {
      const auto group = facts->RowGroup(i);
      if (group->num_rows() < 1 || group->num_rows() > most_rows - rows())
        throw ParquetException(fmt::format("row group {} claims {} rows", i, group->num_rows()));
      ends_.push_back(rows() + group->num_rows());
      const auto images = group->ColumnChunk(image_);
      slots_[static_cast<size_t>(i)].offset = static_cast<size_t>(images->data_page_offset());
      slots_[static_cast<size_t>(i)].bytes = static_cast<size_t>(images->total_compressed_size());
    }
  }

  // Makes the kernel prefetch a group's images in the background.
  void fetch(size_t number) {
    if (number >= slots_.size() || slots_[number].fetched.load(std::memory_order_relaxed)) return;
    Slot& slot = slots_[number];
    if (!slot.fetched.exchange(true)) mapped_.will_need(slot.offset, slot.bytes);
  }

  // Another thread that needs the same group waits here.
  const RowGroup* open(size_t number) {
    const std::lock_guard lock(opening_);
    Slot& slot = slots_[number];
    if (!slot.group) try {
        fetch(number);
        slot.group = read(number);
      } catch (const std::exception& error) {
        fail(fmt::format("row group {}: {}", number, error.what()));
      }
    slot.ready.store(slot.group.get(), std::memory_order_release);
    return slot.group.get();
  }

  std::unique_ptr<const RowGroup> read(size_t number) const {
    const auto group = reader_->RowGroup(static_cast<int>(number));
    const int64_t rows = ends_[number] - (number == 0 ? 0 : ends_[number - 1]);
    const auto images = column_values<parquet::ByteArrayType>(*group->Column(image_), rows);
    auto labels = column_values<parquet::Int64Type>(*group->Column(label_), rows);
    return std::make_unique<const RowGroup>(
        RowGroup{views(images), arrow::Int64Array(rows, arrow::Buffer::FromVector(std::move(labels)))});
  }

  // Refuses values outside the mapped file: they belong to a compressed or dictionary-encoded column and
  // would become invalid with their page.
  arrow::BinaryViewArray views(const std::vector<parquet::ByteArray>& values) const {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const auto all = mapped_.bytes();
    const uint8_t* const begin = values.front().ptr;  // views hold 31-bit offsets from here
    const uint8_t* const end = all.data() + all.size();
    std::vector<arrow::BinaryViewType::c_type> views;
    views.reserve(values.size());
    for (const parquet::ByteArray& value : values) {
      if (begin < all.data() || value.ptr < begin || value.ptr > end ||
          value.len > static_cast<size_t>(end - value.ptr))
        throw ParquetException("its images are compressed or encoded");
      const auto offset = value.ptr - begin;
      if (offset > kMost || value.len > kMost) throw ParquetException("it is larger than 2 GiB");
      views.push_back(arrow::util::ToBinaryView(value.ptr, static_cast<int32_t>(value.len), 0,
                                                static_cast<int32_t>(offset)));
    }
    const auto length = static_cast<int64_t>(views.size());
    return arrow::BinaryViewArray(arrow::binary_view(), length, arrow::Buffer::FromVector(std::move(views)),
                                  {std::make_shared<arrow::Buffer>(begin, end - begin)});
  }

  std::filesystem::path file_;
  MappedFile mapped_;
  std::unique_ptr<parquet::ParquetFileReader> reader_;
  int image_ = 0, label_ = 0;
  std::vector<int64_t> ends_;  // per row group: number of its last row + 1
  std::vector<Slot> slots_;    // per row group
  std::mutex opening_;
};

class Parquet : public SharedStorage, PackedCopy {
 public:
  explicit Parquet(const StorageOptions& options)
      : SharedStorage("parquet", options.dataset),
        PackedCopy("parquet", options,
                   fmt::format("the Parquet files in {} can't be used:", options.location.string())),
        shards_{0, count_files()} {
    for (int64_t shard = 0; shard < shards_.count; ++shard) {
      files_.push_back(std::make_unique<ParquetShard>(file(shard), options.readahead, size()));
      shards_.records += files_.back()->rows();
    }
    for (int64_t shard = 0; shard < shards_.count; ++shard)
      if (const int64_t rows = files_[size_t(shard)]->rows(); rows != shards_.size(shard))
        fail(fmt::format("{} holds {} records instead of {}", file(shard).filename().string(), rows,
                         shards_.size(shard)));
    require(shards_.records);
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

  fs::path file(int64_t shard) const { return location_ / shards_.file_name(shard, ".parquet"); }

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

  Shards shards_;
  std::vector<std::unique_ptr<ParquetShard> > files_;
};

[[maybe_unused]] const bool registered_storage_parquet =
    StorageRegistry::instance().add(kParquet, [](const StorageOptions& options) -> std::unique_ptr<Storage> {
      if (options.location == options.dataset.root) return files_in_place("parquet", options);
      return std::make_unique<Parquet>(options);
    });
#endif

}  // namespace
}  // namespace bench
