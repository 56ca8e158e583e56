// Reads columns with Arrow's Parquet reader, and returns images as views of the mapped file, not as copies.
#ifdef HAVE_ARROW
#include "bench/loading/storage/parquet_shard.h"

#include <arrow/io/memory.h>
#include <arrow/util/binary_view_util.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace bench {
namespace {

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

}  // namespace

ParquetShard::ParquetShard(const std::filesystem::path& file, bool readahead, int64_t most_rows)
    : file_(file), mapped_(file, readahead, pack_again("parquet", file.parent_path())) {
  try {
    read_facts(most_rows);
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void ParquetShard::read_facts(int64_t most_rows) {
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

EncodedImage ParquetShard::image(int64_t row) {
  const auto number = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), row) - ends_.begin());
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

void ParquetShard::fail(const std::string& why) const {
  throw std::runtime_error(fmt::format("the Parquet file {} can't be used: {}; {}", file_.string(), why,
                                       pack_again("parquet", file_.parent_path())));
}

// Makes the kernel prefetch a group's images in the background.
void ParquetShard::fetch(size_t number) {
  if (number >= slots_.size() || slots_[number].fetched.load(std::memory_order_relaxed)) return;
  Slot& slot = slots_[number];
  if (!slot.fetched.exchange(true)) mapped_.will_need(slot.offset, slot.bytes);
}

// Another thread that needs the same group waits here.
const ParquetShard::RowGroup* ParquetShard::open(size_t number) {
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

std::unique_ptr<const ParquetShard::RowGroup> ParquetShard::read(size_t number) const {
  const auto group = reader_->RowGroup(static_cast<int>(number));
  const int64_t rows = ends_[number] - (number == 0 ? 0 : ends_[number - 1]);
  const auto images = column_values<parquet::ByteArrayType>(*group->Column(image_), rows);
  auto labels = column_values<parquet::Int64Type>(*group->Column(label_), rows);
  return std::make_unique<const RowGroup>(
      RowGroup{views(images), arrow::Int64Array(rows, arrow::Buffer::FromVector(std::move(labels)))});
}

// Refuses values outside the mapped file: they belong to a compressed or dictionary-encoded column and would
// become invalid with their page.
arrow::BinaryViewArray ParquetShard::views(const std::vector<parquet::ByteArray>& values) const {
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

}  // namespace bench
#endif
