// One Arrow IPC file of all images, decoded in place from mapped pages. Arrow's MemoryMappedFile would
// prefetch (madvise) every range that it returns, here the whole file; so the file is mapped here, and Arrow
// only reads the batches' metadata from that memory.
#include "bench/formats/optional_libraries.h"
#include "bench/loading/storage/storage.h"

#ifdef HAVE_ARROW
#include <arrow/array/array_binary.h>
#include <arrow/array/array_primitive.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bench/formats/mapped_file.h"
#include "bench/loading/storage/files.h"
#endif

namespace bench {
namespace {

const Value kArrow = {"storage",
                      "arrow",
                      "one Arrow IPC file (batches of 1000 rows), decoded in place from mapped pages",
                      {.packed = true}};

#ifndef HAVE_ARROW
[[maybe_unused]] const bool registered_storage_arrow = register_missing(kArrow, kNoArrow);
#else

// The buffers of one batch, verified to be within the mapped file.
struct Batch {
  std::shared_ptr<arrow::RecordBatch> owner;
  std::span<const int32_t> offsets;
  std::span<const int64_t> labels;
  std::span<const uint8_t> images;
};

class Arrow : public SharedStorage, PackedCopy {
 public:
  explicit Arrow(const StorageOptions& options)
      : SharedStorage("arrow", options.dataset),
        PackedCopy(
            "arrow", options,
            fmt::format("the Arrow file {} can't be used:", (options.location / "images.arrow").string())),
        file_(location_ / "images.arrow"),
        mapped_(file_, options.readahead, next_step_) {
    const auto bytes = mapped_.bytes();
    const auto source = std::make_shared<arrow::io::BufferReader>(
        std::make_shared<arrow::Buffer>(bytes.data(), static_cast<int64_t>(bytes.size())));
    auto opened = arrow::ipc::RecordBatchFileReader::Open(source);
    if (!opened.ok()) fail(opened.status().ToString());
    const auto schema = (*opened)->schema();
    const int image = schema->GetFieldIndex("image"), label = schema->GetFieldIndex("label");
    const auto is_binary = [](const auto& type) { return type->Equals(arrow::binary()); };
    const auto type = image < 0 ? nullptr : schema->field(image)->type();
    const bool nested = type && type->id() == arrow::Type::STRUCT && type->num_fields() > 0;
    if (!type || !is_binary(nested ? type->field(0)->type() : type) || label < 0 ||
        !schema->field(label)->type()->Equals(arrow::int64()))
      fail("it has no columns image (binary, or a struct that begins with binary bytes) and label (int64)");
    for (int i = 0; i < (*opened)->num_record_batches(); ++i) add_batch(**opened, i, image, label);
    require(ends_.empty() ? 0 : ends_.back());
  }

  void release_mapped_pages() const override { mapped_.release_pages(); }
  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>&) const override {
    return {file_};
  }

 private:
  // Reads only the batch's metadata; offsets are checked when their image is read.
  void add_batch(arrow::ipc::RecordBatchFileReader& reader, int number, int image, int label) {
    auto read = reader.ReadRecordBatch(number);
    if (!read.ok()) fail(fmt::format("batch {}: {}", number, read.status().ToString()));
    const auto rows = static_cast<size_t>((*read)->num_rows());
    if (rows == 0) return;
    const auto& column = *(*read)->column_data(image);
    const bool nested = !column.child_data.empty();
    if (nested &&
        (column.null_count != 0 || column.offset != 0 || column.child_data[0]->length < column.length))
      fail(fmt::format("batch {} has nulls or is cut off", number));
    const auto& images = nested ? *column.child_data[0] : column;
    const auto& labels = *(*read)->column_data(label);
    if (images.null_count != 0 || labels.null_count != 0) fail(fmt::format("batch {} has nulls", number));
    batches_.push_back(
        {*read, part<int32_t>(images, 1, rows + 1, number), part<int64_t>(labels, 1, rows, number), {}});
    const auto& bytes = images.buffers[2];
    batches_.back().images = part<uint8_t>(images, 2, bytes ? static_cast<size_t>(bytes->size()) : 0, number);
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + static_cast<int64_t>(rows));
  }

  // The buffer as `count` values. A buffer outside the mapped file is a decompressed copy and is refused.
  template <class T>
  std::span<const T> part(const arrow::ArrayData& column, size_t index, size_t count, int number) const {
    const auto& buffer = column.buffers.at(index);
    const auto size = buffer ? static_cast<size_t>(buffer->size()) : 0;
    const uint8_t* const data = buffer ? buffer->data() : nullptr;
    if (column.offset != 0 || count > size / sizeof(T)) fail(fmt::format("batch {} is cut off", number));
    const auto all = mapped_.bytes();
    if (size > 0 && (data < all.data() || size > static_cast<size_t>(all.data() + all.size() - data)))
      fail(fmt::format("batch {} is compressed", number));
    if (reinterpret_cast<uintptr_t>(data) % alignof(T) != 0)
      fail(fmt::format("batch {} is not aligned", number));
    return {reinterpret_cast<const T*>(data), count};
  }

  EncodedImage image(int64_t record) const override {
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), record);
    if (record < 0 || found == ends_.end())
      throw std::runtime_error(
          fmt::format("record {} of {}: the file has only {} records", record, file_.string(), ends_.back()));
    const Batch& batch = batches_[static_cast<size_t>(found - ends_.begin())];
    const auto row = batch.labels.size() - static_cast<size_t>(*found - record);
    const int64_t begin = batch.offsets[row], end = batch.offsets[row + 1];
    if (begin < 0 || begin > end || end > static_cast<int64_t>(batch.images.size()))
      throw std::runtime_error(
          fmt::format("record {} of {}: its offsets {} and {} are not within the batch's {} bytes", record,
                      file_.string(), begin, end, batch.images.size()));
    EncodedImage image;
    image.bytes = batch.images.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    image.label = batch.labels[row];
    touch_pages(image.bytes);
    return image;
  }

  std::filesystem::path file_;
  MappedFile mapped_;
  std::vector<Batch> batches_;
  std::vector<int64_t> ends_;  // per batch: number of its last record + 1
};

[[maybe_unused]] const bool registered_storage_arrow =
    StorageRegistry::instance().add(kArrow, [](const StorageOptions& options) -> std::unique_ptr<Storage> {
      if (options.location == options.dataset.root) return files_in_place("arrow", options);
      return std::make_unique<Arrow>(options);
    });
#endif

}  // namespace
}  // namespace bench
