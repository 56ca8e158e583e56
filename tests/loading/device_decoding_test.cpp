// unit: a loader whose images are decoded by a (fake) device into device memory, made of two mappings.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "tests/support/failure_of.h"
#include "tests/support/loaded_batches.h"

namespace bench::device_decoding_test {

// Memory mapped without access rights; `seen` is a readable mapping of the same memory.
class OutOfReach {
 public:
  explicit OutOfReach(size_t bytes) : bytes_(bytes), file_(::memfd_create("out of reach", 0)) {
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("no memfd");
    address = map(PROT_NONE);
    seen = map(PROT_READ | PROT_WRITE);
  }
  OutOfReach(const OutOfReach&) = delete;
  ~OutOfReach() {
    ::munmap(address, bytes_);
    ::munmap(seen, bytes_);
    ::close(file_);
  }
  bool holds(const void* pointer) const { return pointer >= address && pointer < address + bytes_; }
  uint8_t *address = nullptr, *seen = nullptr;

 private:
  uint8_t* map(int protection) const {
    void* const memory = ::mmap(nullptr, bytes_, protection, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("can't map it");
    return static_cast<uint8_t*>(memory);
  }
  size_t bytes_;
  int file_;
};

struct FakeDevice {
  std::vector<std::weak_ptr<OutOfReach>> memories;
  std::atomic<int> decoders{0};

  uint8_t* reach(const void* pointer) const {
    for (const auto& weak : memories)
      if (const auto memory = weak.lock(); memory && memory->holds(pointer))
        return memory->seen + (static_cast<const uint8_t*>(pointer) - memory->address);
    throw std::logic_error("not memory of this device");
  }
  DeviceDecoding decoding();
};

class FakeDecoder : public Decoder {
 public:
  explicit FakeDecoder(const FakeDevice& device) : device_(device) {}
  void crop(const EncodedImage& image, const Augmentation& augmentation, int side, BatchFormat format,
            void* out) override {
    Decoder::crop(image, augmentation, side, format, device_.reach(out));
  }

 private:
  const FakeDevice& device_;
};

DeviceDecoding FakeDevice::decoding() {
  return {.make_decoder =
              [this] {
                ++decoders;
                return std::make_unique<FakeDecoder>(*this);
              },
          .allocate_images =
              [this](size_t bytes) {
                const auto memory = std::make_shared<OutOfReach>(bytes);
                memories.push_back(memory);
                return std::shared_ptr<void>(memory, memory->address);
              },
          .fill = [this](void* to, const void* from, size_t bytes) { std::memcpy(reach(to), from, bytes); }};
}

LoaderOptions for_pixels_of(const Dataset& dataset, int threads, Order order = Order::shuffled) {
  LoaderOptions options = options_for(dataset, threads, 5);
  options.format = BatchFormat::uint8;
  options.sampler.order = order;
  return options;
}

std::vector<Bytes> load(Storage& storage, const LoaderOptions& options, const FakeDevice* device = nullptr) {
  const auto loader = started(storage, options);
  std::vector<Bytes> batches;
  for (int i = 0; i < 7; ++i) {
    const Batch batch = loader->next();
    const auto* images = static_cast<const uint8_t*>(batch.images);
    if (device) images = device->reach(images);
    Bytes& copy =
        batches.emplace_back(images, images + 5 * bytes_per_image(options.format, options.image_px));
    for (int64_t label = 0; label < batch.size; ++label) copy.push_back(uint8_t(batch.labels[label]));
    loader->release(batch);
  }
  return batches;
}

TEST(DeviceDecoding, GivesTheSameBatchesInMemoryOfItsOwn) {
  const auto [folder, dataset, storage] = StoredImages(23);
  const auto expected = load(*storage, for_pixels_of(dataset, 2));
  for (const int threads : {0, 1, 4}) {
    FakeDevice device;
    LoaderOptions options = for_pixels_of(dataset, threads);
    options.decoding = device.decoding();
    EXPECT_EQ(load(*storage, options, &device), expected);
    EXPECT_EQ(device.decoders, std::max(1, threads)) << "one for each thread";
    EXPECT_EQ(device.memories.size(), 3u);
    for (const auto& memory : device.memories) EXPECT_TRUE(memory.expired()) << "freed with the loader";
  }
}

// Keeps files, and decodes them when the batch is complete. Fails, as a device would, for images whose files
// end with `bad_end`: their headers are good.
class FakeBatchDecoder : public BatchDecoder {
 public:
  FakeBatchDecoder(const FakeDevice& device, const BatchShape& shape, Bytes bad_end)
      : device_(device), shape_(shape), bad_end_(std::move(bad_end)), kept_(size_t(shape.images)) {}

  void add(int64_t place, const EncodedImage& image, const Augmentation& augmentation,
           Decoder& decoder) override {
    if (decoder.size_if_usual(image, augmentation.box)) ++usual_;
    kept_[size_t(place)] = {{image.bytes.begin(), image.bytes.end()}, augmentation};
  }
  std::vector<Undecodable> decode(uint8_t* images) override {
    EXPECT_EQ(usual_.exchange(0), shape_.images);
    std::vector<Undecodable> bad;
    for (size_t place = 0; place < kept_.size(); ++place) {
      auto& [bytes, augmentation] = kept_[place];
      if (!bad_end_.empty() && std::equal(bad_end_.rbegin(), bad_end_.rend(), bytes.rbegin())) {
        bad.push_back({int64_t(place), "refused"});
        continue;
      }
      Decoder decoder;
      decoder.crop({bytes}, augmentation, int(shape_.side_px), shape_.format,
                   device_.reach(images) + int64_t(place) * bytes_per_image(shape_.format, shape_.side_px));
      bytes.clear();
    }
    return bad;
  }

 private:
  const FakeDevice& device_;
  const BatchShape shape_;
  const Bytes bad_end_;
  std::vector<std::pair<Bytes, Augmentation>> kept_;
  std::atomic<int64_t> usual_{0};
};

DeviceDecoding of_batches(FakeDevice& device, const Bytes& bad_end = {}) {
  DeviceDecoding decoding = device.decoding();
  decoding.make_batch_decoder = [&device, bad_end](const BatchShape& shape) {
    return std::make_unique<FakeBatchDecoder>(device, shape, bad_end);
  };
  return decoding;
}

TEST(DeviceDecoding, BatchesThatAreDecodedTogetherAreTheSame) {
  const auto [folder, dataset, storage] = StoredImages(23);
  const auto expected = load(*storage, for_pixels_of(dataset, 2));
  for (const int threads : {0, 1, 4})
    for (const HandingOver handing_over : {HandingOver::ring, HandingOver::dataloader}) {
      FakeDevice device;
      LoaderOptions options = for_pixels_of(dataset, threads);
      options.handing_over = handing_over;
      options.decoding = of_batches(device);
      EXPECT_EQ(load(*storage, options, &device), expected) << threads << " threads";
    }
}

TEST(DeviceDecoding, WhatABatchRefusesIsReplacedAndCounted) {
  const TemporaryFolder folder;
  const Dataset dataset = small_dataset(folder.path(), 210);
  const std::filesystem::path seventh = folder.path() / dataset.images[7].path;
  const Bytes good = read_bytes(seventh), bad_end{1, 2, 3, 0xff, 0xd9};
  Bytes refused = good;  // what follows its end marker doesn't matter to the CPU's decoder
  refused.insert(refused.end(), bad_end.begin(), bad_end.end());
  write_bytes(seventh, refused);
  const auto storage = open_storage("files", {dataset, "", true, {}});
  FakeDevice device;
  LoaderOptions options = for_pixels_of(dataset, 3, Order::in_order);
  options.decoding = of_batches(device, bad_end);
  const auto found = load(*storage, options, &device);

  write_bytes(seventh, Bytes(100, 1));  // the CPU's decoder replaces it in the same way
  const auto damaged = open_storage("files", {dataset, "", true, {}});
  EXPECT_EQ(found, load(*damaged, for_pixels_of(dataset, 3, Order::in_order)));

  write_bytes(seventh, refused);
  FakeDevice another;
  options.decoding = of_batches(another, bad_end);
  const auto loader = started(*storage, options);
  for (int i = 0; i < 3; ++i) loader->release(loader->next());
  const LoaderStats stats = loader->stats();
  EXPECT_EQ(stats.bad_images, 1);
  ASSERT_EQ(stats.warnings.size(), 1u);
  EXPECT_SAYS(stats.warnings[0], "refused");
  EXPECT_GE(stats.images, 15);
}

TEST(DeviceDecoding, SyntheticBatchesAreInItsMemoryToo) {
  const auto storage = open_storage("synthetic", {});
  FakeDevice device;
  LoaderOptions options = for_pixels_of({}, 1);
  const auto expected = load(*storage, options);
  options.decoding = device.decoding();
  EXPECT_EQ(load(*storage, options, &device), expected);
}

TEST(DeviceDecoding, DamagedImagesAreReplacedAsEver) {
  const TemporaryFolder folder;
  const Dataset dataset = small_dataset(folder.path(), 210);
  write_bytes(folder.path() / dataset.images[7].path, Bytes(100, 1));
  const auto storage = open_storage("files", {dataset, "", true, {}});
  FakeDevice device;
  LoaderOptions options = for_pixels_of(dataset, 3, Order::in_order);
  const auto expected = load(*storage, options);
  options.decoding = device.decoding();
  EXPECT_EQ(load(*storage, options, &device), expected);
}

struct Sorter : Decoder {
  using Decoder::size_if_usual;
};

TEST(DeviceDecoding, OnlyUsualFilesGoToTheDevice) {
  const std::filesystem::path pixels = std::filesystem::path(SOURCE_DIR) / "tests/golden/pixels";
  Sorter sorter;
  const CropBox box{0, 0, 1, 1};
  for (const char* name : {"420.jpg", "422.jpg", "444.jpg", "exif.jpg", "grey.jpg", "large.jpg",
                           "progressive.jpg", "restart.jpg", "strip.jpg", "tiny.jpg"}) {
    Bytes bytes = read_bytes(pixels / name);
    const auto size = sorter.size_if_usual({bytes}, box);
    ASSERT_TRUE(size) << name;
    EXPECT_EQ(size->width, sorter.size(bytes).width) << name;
    bytes.resize(bytes.size() - 3);  // with its end marker
    EXPECT_FALSE(sorter.size_if_usual({bytes}, box)) << name;
  }
  for (const char* name : {"cmyk.jpg", "alpha.png", "palette.png", "png.JPEG"})
    EXPECT_FALSE(sorter.size_if_usual({read_bytes(pixels / name)}, box)) << name;
  const Bytes raw(3 * 4 * 5);
  EXPECT_FALSE(sorter.size_if_usual({raw, 0, 4, 5}, box));
  EXPECT_THROW(sorter.size_if_usual({Bytes(100, 1)}, box), BadImage);
  EXPECT_THROW(sorter.size_if_usual({read_bytes(pixels / "tiny.jpg")}, {0, 0, 10, 8}), std::invalid_argument);
}

TEST(DeviceDecoding, WhatItDeclinesIsDecodedAsEver) {
  Sorter sorter;
  const Augmentation augmentation{{3, 2, 30, 20}, true};
  Bytes encoded = small_jpeg(40, 30, 1), expected(3 * 16 * 16), found(expected.size());
  Decoder().crop_to_uint8(encoded, augmentation, 16, expected.data());
  sorter.size(encoded);
  sorter.size_if_usual({encoded}, augmentation.box);
  encoded = small_jpeg(40, 30, 2);  // may reuse the memory: no state of the first may remain
  sorter.crop_to_uint8(encoded, augmentation, 16, found.data());
  EXPECT_NE(found, expected);
  encoded = small_jpeg(40, 30, 1);
  sorter.size_if_usual({encoded}, augmentation.box);
  sorter.crop_to_uint8(encoded, augmentation, 16, found.data());
  EXPECT_EQ(found, expected);
}

}  // namespace bench::device_decoding_test
