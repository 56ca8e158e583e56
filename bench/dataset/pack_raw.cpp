// Packs decoded pixels: each image resized so that its shorter side has 256 pixels (torchvision's
// Resize(256): bilinear, antialiased, smaller images enlarged), in flat shard files with an index. An image
// that can't be decoded becomes a record without pixels, so that record numbers and bad-image counts match
// those of the files.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "bench/dataset/pack.h"
#include "bench/formats/raw_index.h"
#include "bench/formats/shards.h"
#include "bench/image/decode.h"
#include "harness/base/file.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
constexpr int kRawVersion = 2;  // 1 had no checksums
constexpr int64_t kTypicalBytes = int64_t{3} * kRawShorterSide * kRawShorterSide * 7 / 5;
constexpr int64_t kWidestRatio =
    64;  // longer / shorter side; larger ratios (25 times ImageNet's largest) are bad images
constexpr int64_t kBlockBytes = int64_t{64} << 20;  // encoded bytes held in memory at a time
constexpr size_t kBlockImages = 32;                 // images at a time; the pixels of one take at most 12 MiB

struct Image {
  std::vector<uint8_t> encoded, pixels;
  ImageSize size;
};

// torchvision's _compute_resized_output_size: the longer side is rounded down.
ImageSize resized(ImageSize size) {
  const int64_t shorter = std::min(size.width, size.height), longer = std::max(size.width, size.height);
  if (longer > kWidestRatio * shorter) throw BadImage("its aspect ratio is too extreme");
  const int side = static_cast<int>(kRawShorterSide * longer / shorter);
  return size.width < size.height ? ImageSize{kRawShorterSide, side} : ImageSize{side, kRawShorterSide};
}

void make_pixels(Decoder& decoder, Image& image) try {
  image.size = resized(decoder.size(image.encoded));
  image.pixels.resize(static_cast<size_t>(image.size.width) * image.size.height * 3);
  decoder.resize({image.encoded}, image.size, image.pixels.data());
} catch (const BadImage&) {
  image.size = {};
  image.pixels.clear();
}

class RawWriter {
 public:
  RawWriter(const Dataset& dataset, const fs::path& folder)
      : dataset_(dataset),
        folder_(folder),
        shards_(shards_of(dataset)),
        decoders_(std::max(1u, std::thread::hardware_concurrency())) {
    index_.reserve(dataset.images.size());
  }

  // Returns how many images could not be decoded.
  int64_t write() {
    for_each_image(dataset_, "pack raw", [&](const OpenImage& opened) {
      Image& image = block_[filled_++];
      image.encoded.resize(static_cast<size_t>(opened.entry.bytes));
      opened.read_to(image.encoded.data());
      block_bytes_ += opened.entry.bytes;
      if (filled_ == kBlockImages || block_bytes_ >= kBlockBytes || opened.record + 1 == shards_.records)
        write_block();
    });
    const RawIndexHeader header{kRawIndexMagic, shards_.records, shards_.count};
    std::string index(reinterpret_cast<const char*>(&header), sizeof header);
    index.append(reinterpret_cast<const char*>(index_.data()), index_.size() * sizeof(RawIndexEntry));
    base::write_whole_file(folder_ / "index.bin", index);
    return bad_;
  }

 private:
  void write_block() {
    std::atomic<size_t> next{0};
    std::vector<std::future<void>> threads;
    for (Decoder& decoder : decoders_)
      threads.push_back(std::async(std::launch::async, [&] {
        for (size_t i; (i = next++) < filled_;) make_pixels(decoder, block_[i]);
      }));
    for (auto& thread : threads) thread.get();  // throws what ended it, e.g. std::bad_alloc
    for (size_t i = 0; i < filled_; ++i) append(block_[i]);
    filled_ = 0;
    block_bytes_ = 0;
  }

  void append(const Image& image) {
    const auto record = static_cast<int64_t>(index_.size());
    const int64_t shard = shards_.holding(record);
    if (record == shards_.start(shard)) file_.emplace(folder_ / shards_.file_name(shard, kRawEnding));
    RawIndexEntry entry{file_->bytes(), dataset_.images[record].label, image.size.width, image.size.height};
    entry.checksum = raw_checksum(entry, image.pixels);
    index_.push_back(entry);
    bad_ += image.size.width == 0;
    file_->append(image.pixels.data(), image.pixels.size());
  }

  const Dataset& dataset_;
  fs::path folder_;
  Shards shards_;
  std::vector<Decoder> decoders_;
  std::vector<Image> block_ = std::vector<Image>(kBlockImages);
  size_t filled_ = 0;
  int64_t block_bytes_ = 0;
  std::vector<RawIndexEntry> index_;
  std::optional<NewFile> file_;
  int64_t bad_ = 0;
};

const bool registered_dataset_pack_raw = PackRegistry::instance().add(
    {"pack", "raw", "decoded pixels, resized to a shorter side of 256, in shard files"},
    [](const PackRequest& request) {
      int64_t bad = 0;
      PackResult result = pack_into_folder(
          request, "raw", kRawVersion, static_cast<int64_t>(request.dataset.images.size()) * kTypicalBytes,
          [&](const fs::path& folder) { bad = RawWriter(request.dataset, folder).write(); });
      if (bad > 0)
        result.note += fmt::format(", {} of them without pixels because they could not be decoded", bad);
      return result;
    });

}  // namespace
}  // namespace bench
