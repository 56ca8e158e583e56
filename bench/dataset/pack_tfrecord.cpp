// Packs into TFRecord shards of tf.train.Example for TensorFlow and DALI, with one index file per shard.
#ifdef HAVE_TFRECORD
#include <fmt/format.h>

#include "bench/dataset/pack.h"
#include "bench/formats/shards.h"
#include "bench/formats/tfrecord_example.h"
#include "bench/formats/tfrecord_frame.h"
#include "harness/base/file.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
constexpr int kTfRecordVersion = 2;  // 1: indexes were train-NNNNN-of-NNNNN.idx

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

template <class Number>
void append(std::string& text, Number number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

class ShardWriter {
 public:
  ShardWriter(const fs::path& file, fs::path index_file) : file_(file), index_file_(std::move(index_file)) {}

  void add(std::string_view example) {
    frame_.clear();
    append(frame_, static_cast<uint64_t>(example.size()));
    append(frame_, masked_crc32c(bytes_of(frame_)));
    frame_ += example;
    append(frame_, masked_crc32c(bytes_of(example)));
    index_ += fmt::format("{} {}\n", file_.bytes(), frame_.size());
    file_.append(frame_.data(), frame_.size());
  }

  void finish() const { base::write_whole_file(index_file_, index_, /*durable=*/false); }

 private:
  NewFile file_;
  const fs::path index_file_;
  std::string frame_, index_;
};

void write_shards(const Dataset& dataset, const fs::path& folder) {
  const Shards shards = shards_of(dataset);
  std::optional<ShardWriter> writer;
  int64_t shard = -1;
  std::string encoded;
  for_each_image(dataset, "pack tfrecord", [&](const OpenImage& image) {
    if (shards.holding(image.record) != shard) {
      if (writer) writer->finish();
      shard = shards.holding(image.record);
      writer.emplace(folder / shards.file_name(shard), folder / tfrecord_index_name(shard, shards.count));
    }
    if (image.entry.bytes > kLargestFrame / 2)
      throw std::runtime_error(
          fmt::format("{} has {} bytes, too many for a TFRecord; remove it from the data set and run "
                      "`make_dataset index` again",
                      (dataset.root / image.entry.path).string(), image.entry.bytes));
    encoded.resize(static_cast<size_t>(image.entry.bytes));
    image.read_to(encoded.data());
    writer->add(serialized_example(encoded, image.entry.path, image.entry.label));
  });
  if (writer) writer->finish();
}

const bool registered_dataset_pack_tfrecord = add_packer(
    "tfrecord", "TFRecord shards of tf.train.Examples in record order", kTfRecordVersion, write_shards);

}  // namespace
}  // namespace bench
#endif
