// TFRecord shards with random access: each shard's index file gives the positions of the records. Every read
// verifies both checksums in the mapped file, which takes less than half the time of copying the record.
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
#include "bench/loading/storage/storage.h"
#include "harness/base/file.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& folder, const std::string& what) {
  throw std::runtime_error(what + "; " + pack_again("tfrecord", folder));
}

struct Shard {
  fs::path file;
  std::unique_ptr<MappedFile> mapped;
  std::vector<int64_t> starts;  // of the records' frames; the last entry is the end
  int64_t records() const { return static_cast<int64_t>(starts.size()) - 1; }
};

Shard open_shard(const fs::path& folder, int64_t number, int64_t count, bool readahead) {
  const fs::path file = folder / tfrecord_shard_name(number, count);
  const auto refuse = [&](const std::string& what) { fail(file.parent_path(), what); };
  const std::string next_step = pack_again("tfrecord", file.parent_path());
  Shard shard{file, std::make_unique<MappedFile>(file, readahead, next_step), {0}};
  const auto bytes = static_cast<int64_t>(shard.mapped->bytes().size());
  const std::string index = (folder / tfrecord_index_name(number, count)).string();
  std::ifstream lines = base::open_regular(index);
  if (!lines) refuse(fmt::format("the index {} can't be read: {}", index, std::strerror(errno)));
  for (int64_t offset, size; lines >> offset >> size; shard.starts.push_back(offset + size))
    if (offset != shard.starts.back() || size < kFrameHeaderBytes + kFrameFooterBytes || size > kLargestFrame)
      refuse(fmt::format("{}:{}: a record at {} of {} bytes can't follow one that ends at {}", index,
                         shard.starts.size(), offset, size, shard.starts.back()));
  if (!lines.eof()) refuse(fmt::format("{}:{}: expected an offset and a size", index, shard.starts.size()));
  if (shard.starts.back() != bytes)
    refuse(fmt::format("the TFRecord shard {} is {} bytes long, but its index ends at {}", file.string(),
                       bytes, shard.starts.back()));
  return shard;
}

int64_t count_shards(const fs::path& folder) {
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const std::string name = entry.path().filename();
    int64_t count = 0;
    const auto last = name.rfind('-');
    if (name.starts_with("train-00000-of-") && std::istringstream(name.substr(last + 1)) >> count &&
        count > 0 && name == tfrecord_shard_name(0, count))
      return count;
  }
  fail(folder, fmt::format("no TFRecord shard (train-00000-of-NNNNN) was found in '{}'", folder.string()));
}

class TfRecord : public SharedStorage {
 public:
  explicit TfRecord(const StorageOptions& options) : SharedStorage("tfrecord", options.dataset) {
    const int64_t count = count_shards(options.location);
    for (int64_t i = 0; i < count; ++i) {
      files_.push_back(open_shard(options.location, i, count, options.readahead));
      shards_.records += files_.back().records();
    }
    shards_.count = count;
    for (int64_t i = 0; i < count; ++i)
      if (files_[i].records() != shards_.size(i))
        fail(options.location, fmt::format("the TFRecord shard {} holds {} records, expected {}",
                                           files_[i].file.string(), files_[i].records(), shards_.size(i)));
    const int64_t needed = records_needed(options);
    if (shards_.records < needed)
      fail(options.location, fmt::format("the TFRecord shards in {} hold {} records and {} are needed",
                                         options.location.string(), shards_.records, needed));
  }

  void release_mapped_pages() const override {
    for (const Shard& file : files_) file.mapped->release_pages();
  }
  std::vector<fs::path> cached_files(const std::vector<int64_t>& records) const override {
    return files_holding(shards_, records, [this](int64_t shard) { return files_[size_t(shard)].file; });
  }

 private:
  EncodedImage image(int64_t record) const override {
    if (record < 0 || record >= shards_.records)
      throw std::runtime_error(
          fmt::format("record {} isn't among the {} packed records", record, shards_.records));
    const int64_t number = shards_.holding(record);
    const Shard& shard = files_[number];
    const int64_t place = record - shards_.start(number), start = shard.starts[place];
    const auto size = static_cast<size_t>(shard.starts[place + 1] - start);
    const auto damaged = [&](const std::string& why) {
      fail(shard.file.parent_path(), fmt::format("record {} in {}: {}", record, shard.file.string(), why));
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

}  // namespace
}  // namespace bench
#endif

namespace bench {
namespace {

const Value kTfRecord = {
    "storage",
    "tfrecord",
    "TFRecord shards of tf.train.Example, decoded in place from mapped pages, both checksums verified",
    {.packed = true}};

[[maybe_unused]] const bool registered_storage_tfrecord =
#ifdef HAVE_TFRECORD
    StorageRegistry::instance().add(
        kTfRecord, [](const StorageOptions& options) { return std::make_unique<TfRecord>(options); });
#else
    register_missing(
        kTfRecord,
        "this build found no ISA-L or no protobuf: install libisal-dev and libprotobuf-dev and build again");
#endif

}  // namespace
}  // namespace bench
