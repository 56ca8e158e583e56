// Reads each image file directly into the memory of an Arrow column, without a copy in between.
#ifdef HAVE_ARROW
#include "bench/dataset/arrow_rows.h"

#include <arrow/array/array_binary.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/type.h>
#include <arrow/util/io_util.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/base/file.h"

namespace bench {
namespace {

constexpr int64_t kMostBatchBytes = int64_t{256} << 20;

void check_memory(const arrow::Status& status) {
  if (!status.ok())
    throw std::runtime_error("Arrow could not allocate memory for a batch of images: " + status.ToString());
}

template <class T>
T allocated(arrow::Result<T> result) {
  check_memory(result.status());
  return std::move(result).ValueUnsafe();
}

}  // namespace

std::shared_ptr<arrow::Schema> arrow_schema(const std::vector<std::string>& classes) {
  const nlohmann::json features = {{"image", {{"_type", "Image"}}},
                                   {"label", {{"names", classes}, {"_type", "ClassLabel"}}}};
  const nlohmann::json info = {{"info", {{"features", features}}}};
  const std::string text = info.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return arrow::schema({arrow::field("image", arrow::struct_({arrow::field("bytes", arrow::binary()),
                                                              arrow::field("path", arrow::utf8())})),
                        arrow::field("label", arrow::int64())},
                       arrow::key_value_metadata({kFeatures}, {text}));
}

void ArrowRows::begin(int64_t first, int64_t last, int64_t rows) {
  record_ = end_ = first;
  int64_t bytes = 0;
  while (end_ <= last && end_ - first < rows) {
    const auto& image = dataset_.images[end_];
    if (end_ > first && bytes + image.bytes > kMostBatchBytes) break;
    bytes += image.bytes;
    ++end_;
  }
  if (bytes > std::numeric_limits<int32_t>::max())
    throw std::runtime_error(
        fmt::format("{} is larger than 2 GiB, the most that a column of Arrow's type binary holds: remove it "
                    "and run `make_dataset index` again",
                    dataset_.images[first].path));
  check_memory(images_.Reserve(bytes));
  check_memory(image_offsets_.Append(0));
  check_memory(path_offsets_.Append(0));
}

void ArrowRows::add(const OpenImage& opened) {
  const ImageEntry& image = opened.entry;
  ++record_;
  opened.read_to(images_.mutable_data() + images_.length());
  images_.UnsafeAdvance(image.bytes);
  check_memory(image_offsets_.Append(static_cast<int32_t>(images_.length())));
  check_memory(labels_.Append(image.label));
  check_memory(paths_.Append(image.path.data(), static_cast<int64_t>(image.path.size())));
  check_memory(path_offsets_.Append(static_cast<int32_t>(paths_.length())));
}

std::shared_ptr<arrow::RecordBatch> ArrowRows::finish() {
  const int64_t rows = labels_.length();
  const arrow::ArrayVector parts = {
      std::make_shared<arrow::BinaryArray>(rows, allocated(image_offsets_.Finish()),
                                           allocated(images_.Finish())),
      std::make_shared<arrow::StringArray>(rows, allocated(path_offsets_.Finish()),
                                           allocated(paths_.Finish()))};
  return arrow::RecordBatch::Make(
      schema_, rows,
      {std::make_shared<arrow::StructArray>(schema_->field(0)->type(), rows, parts),
       std::make_shared<arrow::Int64Array>(rows, allocated(labels_.Finish()))});
}

ArrowFile::ArrowFile(const std::filesystem::path& file) : file_(file) {
  auto opened = arrow::io::FileOutputStream::Open(file.string());
  check(opened.status());
  stream_ = *opened;
}

void ArrowFile::check(const arrow::Status& status) const {
  if (status.ok()) return;
  if (const int error = arrow::internal::ErrnoFromStatus(status)) base::throw_write_error(file_, error);
  throw std::runtime_error(fmt::format("Arrow could not write {}: {}; remove the folder and pack again",
                                       file_.string(), status.ToString()));
}

}  // namespace bench
#endif
