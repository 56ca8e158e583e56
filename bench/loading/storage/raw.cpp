// Pixels that were decoded and resized to a shorter side of 256 at packing, read in place from mapped shard
// files. Damage in pixels would go unnoticed, so every read verifies the record's checksum. The data differ
// from the original files: about twice the bytes, and already resized once.
#include <fmt/format.h>

#include <vector>

#include "bench/formats/mapped_file.h"
#include "bench/formats/raw_index.h"
#include "bench/formats/shards.h"
#include "bench/loading/storage/storage.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

class Raw : public SharedStorage, PackedCopy {
 public:
  explicit Raw(const StorageOptions& options)
      : SharedStorage("raw", options.dataset),
        PackedCopy("raw", options,
                   fmt::format("the raw pixels in {} can't be used:", options.location.string())),
        index_(location_ / "index.bin", true, next_step_) {
    read_header();
    require(shards_.records);
    for (int64_t shard = 0; shard < shards_.count; ++shard) open_shard(shard, options.readahead);
  }

  void release_mapped_pages() const override {
    for (const auto& file : files_) file->release_pages();
  }

  std::vector<fs::path> cached_files(const std::vector<int64_t>& records) const override {
    return files_holding(shards_, records, [this](int64_t shard) { return file(shard); });
  }

 private:
  void read_header() {
    const auto bytes = index_.bytes();
    const auto* header = reinterpret_cast<const RawIndexHeader*>(bytes.data());
    if (bytes.size() < sizeof(RawIndexHeader) || header->magic != kRawIndexMagic)
      fail("index.bin is not an index");
    if (header->records < 1 || header->shards < 1 || header->shards > header->records ||
        static_cast<uint64_t>(header->records) !=
            (bytes.size() - sizeof(RawIndexHeader)) / sizeof(RawIndexEntry) ||
        (bytes.size() - sizeof(RawIndexHeader)) % sizeof(RawIndexEntry) != 0)
      fail("index.bin is cut off");
    entries_ = {reinterpret_cast<const RawIndexEntry*>(header + 1), static_cast<size_t>(header->records)};
    shards_ = {header->records, header->shards};
  }

  fs::path file(int64_t shard) const { return location_ / shards_.file_name(shard, kRawEnding); }

  // The last image must end at the end of its file: detects a truncated file without reading its pages.
  void open_shard(int64_t shard, bool readahead) {
    const fs::path path = file(shard);
    files_.push_back(std::make_unique<MappedFile>(path, readahead, next_step_));
    const RawIndexEntry& last = entries_[static_cast<size_t>(shards_.start(shard + 1) - 1)];
    if (!fits(last, shard) ||
        last.offset + bytes_of(last) != static_cast<int64_t>(files_.back()->bytes().size()))
      fail(fmt::format("{} is cut off or belongs to another index", path.filename().string()));
  }

  static int64_t bytes_of(const RawIndexEntry& entry) { return int64_t{3} * entry.width * entry.height; }

  bool fits(const RawIndexEntry& entry, int64_t shard) const {
    const auto size = static_cast<int64_t>(files_[static_cast<size_t>(shard)]->bytes().size());
    if (entry.width < 0 || entry.height < 0 || entry.offset < 0) return false;
    const int64_t pixels = int64_t{entry.width} * entry.height;  // times 3 could overflow
    return pixels <= size / 3 && entry.offset <= size - 3 * pixels;
  }

  EncodedImage image(int64_t record) const override {
    if (record < 0 || record >= shards_.records)
      fail(fmt::format("record {} is not among its {} records", record, shards_.records));
    const RawIndexEntry& entry = entries_[static_cast<size_t>(record)];
    const int64_t shard = shards_.holding(record);
    if (!fits(entry, shard))
      throw std::runtime_error(
          fmt::format("record {} in {}: {}x{} pixels at byte {} are not within its shard {}", record,
                      location_.string(), entry.width, entry.height, entry.offset, shard));
    const auto pixels = files_[static_cast<size_t>(shard)]->bytes().subspan(
        static_cast<size_t>(entry.offset), static_cast<size_t>(bytes_of(entry)));
    if (raw_checksum(entry, pixels) != entry.checksum)
      throw std::runtime_error(
          fmt::format("record {} in {}: the checksum of its pixels and its index entry is wrong; {}", record,
                      file(shard).string(), next_step_));
    if (pixels.empty())
      throw std::runtime_error(fmt::format("record {} in {}: could not be decoded when it was packed", record,
                                           location_.string()));
    EncodedImage image;
    image.bytes = pixels;
    image.label = entry.label;
    image.raw_width = entry.width;
    image.raw_height = entry.height;
    return image;
  }

  MappedFile index_;
  std::span<const RawIndexEntry> entries_;
  Shards shards_;
  std::vector<std::unique_ptr<MappedFile>> files_;
};

[[maybe_unused]] const bool registered_storage_raw = StorageRegistry::instance().add(
    {"storage",
     "raw",
     "decoded pixels, resized to a shorter side of 256, in mapped files; not comparable with rows that read "
     "full-size files",
     {.packed = true}},
    [](const StorageOptions& options) { return std::make_unique<Raw>(options); });

}  // namespace
}  // namespace bench
