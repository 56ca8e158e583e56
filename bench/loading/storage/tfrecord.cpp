// TFRecord shards with random access: each shard's index file gives the positions of the records. Every read
// verifies both checksums in the mapped file, which takes less than half the time of copying the record.
#include "bench/formats/optional_libraries.h"
#include "bench/loading/storage/storage.h"

#ifdef HAVE_TFRECORD
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "bench/formats/mapped_file.h"
#include "bench/formats/shards.h"
#include "bench/formats/tfrecord_example.h"
#include "bench/formats/tfrecord_frame.h"
#include "harness/base/file.h"
#endif

namespace bench {
namespace {

const Value kTfRecord = {
    "storage",
    "tfrecord",
    "TFRecord shards of tf.train.Example, decoded in place from mapped pages, both checksums verified",
    {.packed = true}};

#ifndef HAVE_TFRECORD
[[maybe_unused]] const bool registered_storage_tfrecord = register_missing(kTfRecord, kNoTfRecord);
#else

namespace fs = std::filesystem;

struct Shard {
  fs::path file;
  std::unique_ptr<MappedFile> mapped;
  std::vector<int64_t> starts;  // of the records' frames; the last entry is the end
  int64_t records() const { return static_cast<int64_t>(starts.size()) - 1; }
};

class TfRecord : public SharedStorage, PackedCopy {
 public:
  explicit TfRecord(const StorageOptions& options)
      : SharedStorage("tfrecord", options.dataset), PackedCopy("tfrecord", options, "TFRecords:") {
    shards_.count = count_shards();
    for (int64_t i = 0; i < shards_.count; ++i) {
      files_.push_back(open_shard(i, options.readahead));
      shards_.records += files_.back().records();
    }
    for (int64_t i = 0; i < shards_.count; ++i)
      if (files_[i].records() != shards_.size(i))
        fail(fmt::format("the shard {} holds {} records, expected {}", files_[i].file.string(),
                         files_[i].records(), shards_.size(i)));
    require(shards_.records);
  }

  void release_mapped_pages() const override {
    for (const Shard& file : files_) file.mapped->release_pages();
  }
  std::vector<fs::path> cached_files(const std::vector<int64_t>& records) const override {
    return files_holding(shards_, records, [this](int64_t shard) { return files_[size_t(shard)].file; });
  }

 private:
  int64_t count_shards() const {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(location_, missing)) {
      const std::string name = entry.path().filename();
      int64_t count = 0;
      const auto last = name.rfind('-');
      if (name.starts_with("train-00000-of-") && std::istringstream(name.substr(last + 1)) >> count &&
          count > 0 && name == Shards{0, count}.file_name(0))
        return count;
    }
    fail(fmt::format("no TFRecord shard (train-00000-of-NNNNN) was found in '{}'", location_.string()));
  }

  Shard open_shard(int64_t number, bool readahead) const {
    const fs::path file = location_ / shards_.file_name(number);
    Shard shard{file, std::make_unique<MappedFile>(file, readahead, next_step_), {0}};
    const auto bytes = static_cast<int64_t>(shard.mapped->bytes().size());
    const std::string index = (location_ / tfrecord_index_name(number, shards_.count)).string();
    std::ifstream lines = base::open_regular(index);
    if (!lines) fail(fmt::format("the index {} can't be read: {}", index, std::strerror(errno)));
    for (int64_t offset, size; lines >> offset >> size; shard.starts.push_back(offset + size))
      if (offset != shard.starts.back() || size < kFrameHeaderBytes + kFrameFooterBytes ||
          size > kLargestFrame)
        fail(fmt::format("{}:{}: a record at {} of {} bytes can't follow one that ends at {}", index,
                         shard.starts.size(), offset, size, shard.starts.back()));
    if (!lines.eof()) fail(fmt::format("{}:{}: expected an offset and a size", index, shard.starts.size()));
    if (shard.starts.back() != bytes)
      fail(fmt::format("the shard {} is {} bytes long, but its index ends at {}", file.string(), bytes,
                       shard.starts.back()));
    return shard;
  }

  EncodedImage image(int64_t record) const override {
    if (record < 0 || record >= shards_.records)
      fail(fmt::format("record {} isn't among the {} packed records", record, shards_.records));
    const int64_t number = shards_.holding(record);
    const Shard& shard = files_[number];
    const int64_t place = record - shards_.start(number), start = shard.starts[place];
    const auto size = static_cast<size_t>(shard.starts[place + 1] - start);
    const auto damaged = [&](const std::string& why) {
      fail(fmt::format("record {} in {}: {}", record, shard.file.string(), why));
    };
    const auto frame = shard.mapped->bytes().subspan(static_cast<size_t>(start), size);
    std::span<const uint8_t> data;
    try {
      data = data_of_frame(frame);
    } catch (const std::runtime_error& error) {
      damaged(error.what());
    }
    const size_t indexed = size - kFrameHeaderBytes - kFrameFooterBytes;
    if (data.size() != indexed)
      damaged(fmt::format("its length is {} and the index says {}", data.size(), indexed));
    const auto image = image_of_example(data);
    if (!image) damaged("no tf.train.Example with image/encoded and image/class/label");
    return *image;
  }

  std::vector<Shard> files_;
  Shards shards_;
};

[[maybe_unused]] const bool registered_storage_tfrecord = StorageRegistry::instance().add(
    kTfRecord, [](const StorageOptions& options) { return std::make_unique<TfRecord>(options); });
#endif

}  // namespace
}  // namespace bench
