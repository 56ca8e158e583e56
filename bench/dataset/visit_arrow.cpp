// Arrow IPC and Parquet files, as Hugging Face's datasets writes them: a column of images (struct of bytes
// and path, or binary) and one of labels; the schema's metadata `huggingface` names both and the classes.
#include "bench/dataset/containers.h"

#ifdef HAVE_ARROW
#include <arrow/array/array_binary.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/api/reader.h>
#include <parquet/arrow/schema.h>

#include <algorithm>
#include <stdexcept>

#include "bench/dataset/arrow_rows.h"
#include "harness/base/json_text.h"

namespace bench {
namespace {

struct Columns {
  std::string image, label;
  bool nested = false;  // bytes are a field of the image's struct
};

bool holds_bytes(const arrow::DataType& type) {
  return type.id() == arrow::Type::BINARY || type.id() == arrow::Type::LARGE_BINARY;
}

bool is_nested_image(const arrow::DataType& type) {
  const auto bytes = type.id() == arrow::Type::STRUCT
                         ? static_cast<const arrow::StructType&>(type).GetFieldByName("bytes")
                         : nullptr;
  return bytes && holds_bytes(*bytes->type());
}

// The features by Hugging Face's metadata; an empty object without it.
nlohmann::json features_of(const arrow::Schema& schema) {
  const auto& facts = schema.metadata();
  const int at = facts ? facts->FindKey(kFeatures) : -1;
  if (at < 0) return nlohmann::json::object();
  const auto info = base::parse_json(facts->value(at));
  const auto features = "/info/features"_json_pointer;
  return info.is_object() && info.contains(features) && info[features].is_object() ? info[features]
                                                                                   : nlohmann::json::object();
}

Columns columns_of(const arrow::Schema& schema, Labels& labels) {
  Columns columns;
  std::string found, label_type;
  const nlohmann::json features = features_of(schema);
  const auto is_feature = [&](const std::string& column, const char* type) {
    return features.contains(column) && features[column].is_object() &&
           features[column].value("_type", nlohmann::json()) == type;
  };
  // The only one of its kind, or the one with the usual name.
  const auto choose = [&](std::string& column, bool possible, const std::string& name, const char* usual) {
    if (possible && (column.empty() || name == usual)) column = name;
  };
  for (const auto& field : schema.fields()) {
    found += fmt::format("{}{}: {}", found.empty() ? "" : ", ", field->name(), field->type()->ToString());
    const bool image = holds_bytes(*field->type()) || is_nested_image(*field->type());
    choose(columns.image, image, field->name(), "image");
    choose(columns.label, field->type()->id() == arrow::Type::INT64, field->name(), "label");
  }
  for (const auto& field : schema.fields())
    if (field->type()->id() == arrow::Type::INT64 && is_feature(field->name(), "ClassLabel") &&
        !is_feature(columns.label, "ClassLabel"))
      columns.label = field->name();
  if (columns.image.empty() || columns.label.empty())
    throw std::runtime_error(fmt::format(
        "its columns are {}; name the one of images (binary, or a struct with binary bytes) `image`, and "
        "the one of labels (int64) `label`",
        found));
  for (const std::string& name : {columns.image, columns.label})
    if (schema.GetAllFieldIndices(name).size() != 1)
      throw std::runtime_error(fmt::format("it has several columns '{}': {}", name, found));
  columns.nested = is_nested_image(*schema.GetFieldByName(columns.image)->type());
  if (is_feature(columns.label, "ClassLabel")) {
    const auto names = features[columns.label].value("names", nlohmann::json::array());
    std::vector<std::string> classes;
    for (const auto& name : names)
      if (name.is_string()) classes.push_back(name);
    if (labels.names.empty()) labels.names = classes;
    if (labels.names != classes)
      throw std::runtime_error("its class names differ from those of the files before");
  }
  return columns;
}

void take_row(const Container& container, int64_t row, bool null, int64_t label, std::string_view image) {
  if (null)
    throw std::runtime_error(
        fmt::format("row {} has no image bytes or no label (null); put images that are only "
                    "paths in with datasets' embed_table_storage",
                    row));
  container.take("", container.labels.numbered(label),
                 {reinterpret_cast<const uint8_t*>(image.data()), image.size()});
}

template <class T>
T value_of(arrow::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return std::move(result).ValueUnsafe();
}

std::shared_ptr<arrow::io::BufferReader> source_of(const Container& container) {
  return std::make_shared<arrow::io::BufferReader>(
      std::make_shared<arrow::Buffer>(container.bytes.data(), static_cast<int64_t>(container.bytes.size())));
}

template <class Column>
void take_batch(const Container& container, int64_t first, const arrow::RecordBatch& batch,
                const Columns& columns) {
  auto images = batch.GetColumnByName(columns.image);
  if (columns.nested) {
    const auto& structs = static_cast<const arrow::StructArray&>(*images);
    images = structs.GetFieldByName("bytes");
  }
  const auto& bytes = static_cast<const Column&>(*images);
  const auto labels = batch.GetColumnByName(columns.label);
  for (const auto& column : {images, labels})
    if (const auto status = column->ValidateFull(); !status.ok()) throw std::runtime_error(status.ToString());
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    const bool null = bytes.IsNull(row) || labels->IsNull(row);
    take_row(container, first + row, null,
             null ? 0 : static_cast<const arrow::Int64Array&>(*labels).Value(row),
             null ? std::string_view() : bytes.GetView(row));
  }
}

void visit_batches(const Container& container, const arrow::Schema& schema,
                   const std::function<std::shared_ptr<arrow::RecordBatch>()>& next) {
  const Columns columns = columns_of(schema, container.labels);
  int64_t first = 0;
  while (const auto batch = next()) {
    for (int i = 0; i < batch->num_columns(); ++i)  // before anything that aborts if it isn't so
      if (batch->num_rows() < 0 || batch->column_data(i)->length != batch->num_rows())
        throw std::runtime_error(fmt::format("row {}: its batch is damaged", first));
    if (const auto status = batch->Validate(); !status.ok()) throw std::runtime_error(status.ToString());
    auto type = batch->GetColumnByName(columns.image)->type();
    if (columns.nested) type = static_cast<const arrow::StructType&>(*type).GetFieldByName("bytes")->type();
    (type->id() == arrow::Type::BINARY
         ? take_batch<arrow::BinaryArray>
         : take_batch<arrow::LargeBinaryArray>)(container, first, *batch, columns);
    first += batch->num_rows();
  }
}

// Calls take(row, null, value) for each row of a column without repetition.
template <class Type, class Take>
void for_each_value(parquet::RowGroupReader& group, int column, int64_t rows, Take take) {
  const auto reader = group.Column(column);
  auto& values = static_cast<parquet::TypedColumnReader<Type>&>(*reader);
  const int16_t present = reader->descr()->max_definition_level();
  for (int64_t row = 0; row < rows; ++row) {
    int16_t level = present;
    typename Type::c_type value{};
    int64_t count = 0;
    if (values.ReadBatch(1, &level, nullptr, &value, &count) != 1)
      throw std::runtime_error(fmt::format("a column ends after {} of {} rows", row, rows));
    take(row, count == 0, value);
  }
}

}  // namespace

void visit_arrow(const Container& container) {
  const std::string_view magic(reinterpret_cast<const char*>(container.bytes.data()),
                               std::min<size_t>(container.bytes.size(), 6));
  if (magic == "ARROW1") {
    const auto reader = value_of(arrow::ipc::RecordBatchFileReader::Open(source_of(container)));
    int next = 0;
    visit_batches(container, *reader->schema(), [&] {
      return next < reader->num_record_batches() ? value_of(reader->ReadRecordBatch(next++)) : nullptr;
    });
    return;
  }
  const auto reader = value_of(arrow::ipc::RecordBatchStreamReader::Open(source_of(container)));
  visit_batches(container, *reader->schema(), [&] { return value_of(reader->Next()); });
}

void visit_parquet(const Container& container) {
  const auto reader = parquet::ParquetFileReader::Open(source_of(container));
  const auto facts = reader->metadata();
  std::shared_ptr<arrow::Schema> schema;
  if (const auto status = parquet::arrow::FromParquetSchema(
          facts->schema(), parquet::default_arrow_reader_properties(), facts->key_value_metadata(), &schema);
      !status.ok())
    throw std::runtime_error(status.ToString());
  const Columns columns = columns_of(*schema, container.labels);
  const int image = facts->schema()->ColumnIndex(columns.image + (columns.nested ? ".bytes" : "")),
            label = facts->schema()->ColumnIndex(columns.label);
  for (const int column : {image, label})
    if (column < 0 || facts->schema()->Column(column)->max_repetition_level() > 0 ||
        facts->schema()->Column(column)->physical_type() !=
            (column == image ? parquet::Type::BYTE_ARRAY : parquet::Type::INT64))
      throw std::runtime_error("its columns aren't stored as binary and int64");
  int64_t first = 0;
  for (int number = 0; number < facts->num_row_groups(); ++number) {
    const auto group = reader->RowGroup(number);
    const int64_t rows = facts->RowGroup(number)->num_rows();
    std::vector<int64_t> labels;
    std::vector<bool> missing;
    for_each_value<parquet::Int64Type>(*group, label, rows, [&](int64_t, bool null, int64_t value) {
      labels.push_back(value);
      missing.push_back(null);
    });
    for_each_value<parquet::ByteArrayType>(
        *group, image, rows, [&](int64_t row, bool null, const parquet::ByteArray& value) {
          take_row(container, first + row, null || missing[size_t(row)], labels[size_t(row)],
                   {reinterpret_cast<const char*>(value.ptr), value.len});
        });
    first += rows;
  }
}

}  // namespace bench
#endif
