// gpu: nvJPEG's crops compared with the CPU decoder's: pixels, flips, formats, CPU fallback, damaged files.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "bench/train/cuda/jpeg.h"
#include "bench/train/device/device.h"
#include "tests/support/damaged_images.h"
#include "tests/support/pixel_cases.h"

namespace bench::cuda_jpeg_test {

const std::filesystem::path kPixels = std::filesystem::path(SOURCE_DIR) / "tests/golden/pixels";

class CudaJpegTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvjpeg()) GTEST_SKIP() << "this build found no nvJPEG";
    decoding_ = decode_with_nvjpeg(0);
    gpu_ = decoding_.make_decoder();
  }

  // The content of the image's place in a batch.
  Bytes crop_on_gpu(const Bytes& encoded, const Augmentation& augmentation, int side,
                    BatchFormat format = BatchFormat::uint8) {
    const size_t bytes = size_t(bytes_per_image(format, side));
    const auto place = decoding_.allocate_images(bytes);
    gpu_->size(encoded);  // as the loader does
    gpu_->crop({encoded}, augmentation, side, format, place.get());
    Bytes host(bytes);
    C10_CUDA_CHECK(cudaMemcpy(host.data(), place.get(), bytes, cudaMemcpyDeviceToHost));
    return host;
  }
  Bytes crop_on_cpu(const Bytes& encoded, const Augmentation& augmentation, int side,
                    BatchFormat format = BatchFormat::uint8) {
    Bytes host(size_t(bytes_per_image(format, side)));
    cpu_.crop({encoded}, augmentation, side, format, host.data());
    return host;
  }

  static void expect_alike(const Bytes& found, const Bytes& expected, const std::string& what) {
    int worst = 0, sum = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const int difference = std::abs(found[i] - expected[i]);
      worst = std::max(worst, difference);
      sum += difference;
    }
    EXPECT_LE(worst, 40) << what;
    EXPECT_LE(double(sum) / double(expected.size()), 2) << what;
  }

  // As on the CPU: the same pixels, or the same message.
  void expect_the_same_as_on_the_cpu(const Bytes& encoded, const std::string& what) {
    const Augmentation augmentation{{0, 0, 16, 16}, false};
    std::string expected_error, found_error;
    Bytes expected, found;
    try {
      expected = crop_on_cpu(encoded, augmentation, 16);
    } catch (const BadImage& error) {
      expected_error = error.what();
    }
    try {
      found = crop_on_gpu(encoded, augmentation, 16);
    } catch (const BadImage& error) {
      found_error = error.what();
    }
    EXPECT_EQ(found_error, expected_error) << what;
    if (!expected.empty() && !found.empty()) expect_alike(found, expected, what);
  }

  DeviceDecoding decoding_;
  std::unique_ptr<Decoder> gpu_;
  Decoder cpu_;
};

TEST_F(CudaJpegTest, PixelsAreNearTheCpusForEveryKindOfFile) {
  int64_t others = 0;
  for (const auto& [line, name, augmentation, side] : pixel_cases(kPixels)) {
    const Bytes encoded = read_bytes(kPixels / name);
    expect_alike(crop_on_gpu(encoded, augmentation, side), crop_on_cpu(encoded, augmentation, side), line);
    others += name == "cmyk.jpg" || name == "png.JPEG" || name == "alpha.png" || name == "palette.png";
    EXPECT_EQ(decoding_.decoded().cpu, others) << line;
  }
}

TEST_F(CudaJpegTest, FilesOfOrdinarySizeInEverySubsampling) {
  for (const auto& [name, kind] :
       std::vector<std::pair<std::string, JpegKind>>{{"4:4:4", {}},
                                                     {"4:2:0", {.chroma = 2}},
                                                     {"4:2:2", {.chroma = 2, .chroma_rows = 1}},
                                                     {"grey", {.grey = true}},
                                                     {"progressive", {.chroma = 2, .progressive = true}},
                                                     {"restart markers", {.chroma = 2, .restart_rows = 1}}}) {
    const Bytes encoded = small_jpeg(500, 375, 4, kind);
    for (const Augmentation& augmentation :
         {Augmentation{{0, 0, 500, 375}, false}, {{37, 41, 300, 200}, true}, {{401, 301, 99, 74}, true}})
      expect_alike(crop_on_gpu(encoded, augmentation, 224), crop_on_cpu(encoded, augmentation, 224), name);
  }
  EXPECT_EQ(decoding_.decoded().cpu, 0);
}

TEST_F(CudaJpegTest, ABatchHoldsWhatSingleImagesWouldBe) {
  const DeviceDecoding decoding = decode_batches_with_nvjpeg(0);
  std::vector<Bytes> files;
  std::vector<Augmentation> augmentations;
  for (const JpegKind& kind : {JpegKind{}, JpegKind{.chroma = 2}, JpegKind{.chroma = 2, .chroma_rows = 1},
                               JpegKind{.grey = true}, JpegKind{.chroma = 2, .progressive = true}})
    for (const Augmentation& augmentation :
         {Augmentation{{0, 0, 500, 375}, false}, {{37, 41, 300, 200}, true}, {{401, 301, 99, 74}, true}}) {
      files.push_back(small_jpeg(500, 375, int(files.size()), kind));
      augmentations.push_back(augmentation);
    }
  files.push_back(read_bytes(kPixels / "png.JPEG"));
  augmentations.push_back({{0, 0, 16, 16}, false});
  Bytes cut = small_jpeg(64, 72, 3);
  cut.resize(cut.size() / 2);
  files.push_back(cut);
  augmentations.push_back({{0, 0, 16, 16}, false});
  const auto count = int64_t(files.size());
  for (const BatchFormat format : {BatchFormat::uint8, BatchFormat::float32, BatchFormat::channels_last}) {
    constexpr int kSide = 48;
    const auto each = size_t(bytes_per_image(format, kSide));
    const auto place = decoding.allocate_images(each * files.size());
    const auto decoder = decoding.make_decoder();
    const auto batch = decoding.make_batch_decoder({count, kSide, format});
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (int64_t i = 0; i < count; ++i) {
        decoder->size(files[size_t(i)]);
        batch->add(i, {files[size_t(i)]}, augmentations[size_t(i)], *decoder);
      }
      const auto bad = batch->decode(static_cast<uint8_t*>(place.get()));
      ASSERT_EQ(bad.size(), 1u);
      EXPECT_EQ(bad[0].place, count - 1);
    }
    Bytes found(each * files.size());
    C10_CUDA_CHECK(cudaMemcpy(found.data(), place.get(), found.size(), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i + 1 < files.size(); ++i) {
      const Bytes expected = crop_on_cpu(files[i], augmentations[i], kSide, format),
                  mine(found.begin() + int64_t(i * each), found.begin() + int64_t((i + 1) * each));
      if (format == BatchFormat::uint8) {
        expect_alike(mine, expected, "image " + std::to_string(i));
        continue;
      }
      std::vector<float> a(each / 4), b(each / 4);
      std::memcpy(a.data(), mine.data(), each);
      std::memcpy(b.data(), expected.data(), each);
      double sum = 0;
      for (size_t k = 0; k < a.size(); ++k) sum += std::fabs(a[k] - b[k]);
      EXPECT_LT(sum / double(a.size()), 0.05) << i;
    }
  }
  if (decoding.on_engine) {
    EXPECT_GT(decoding.decoded().jpeg_engine, 0) << "each was refused, and decoded alone";
  }
}

TEST_F(CudaJpegTest, FormatsHoldTheSamePixels) {
  const Bytes encoded = small_jpeg(200, 150, 4, {.chroma = 2});
  const Augmentation augmentation{{11, 9, 150, 120}, true};
  for (const int side : {32, 33}) {
    const Bytes pixels = crop_on_gpu(encoded, augmentation, side);
    std::vector<float> planes(pixels.size()), last(pixels.size());
    std::memcpy(planes.data(), crop_on_gpu(encoded, augmentation, side, BatchFormat::float32).data(),
                4 * pixels.size());
    std::memcpy(last.data(), crop_on_gpu(encoded, augmentation, side, BatchFormat::channels_last).data(),
                4 * pixels.size());
    const size_t area = size_t(side) * size_t(side);
    for (size_t i = 0; i < pixels.size(); ++i) {
      const size_t channel = i % 3;
      ASSERT_EQ(last[i], planes[channel * area + i / 3]);
      ASSERT_NEAR(last[i], float(pixels[i]) * normalise_scale(int(channel)) + normalise_shift(int(channel)),
                  1e-5);
    }
  }
}

TEST_F(CudaJpegTest, LargeShrinkingIsLeftToTheCpu) {
  const Bytes encoded = small_jpeg(2500, 40, 1);
  const Augmentation augmentation{{0, 0, 2500, 40}, false};
  EXPECT_EQ(crop_on_gpu(encoded, augmentation, 32), crop_on_cpu(encoded, augmentation, 32));
  EXPECT_EQ(decoding_.decoded().cpu, 1);
}

TEST_F(CudaJpegTest, CutFilesAreRefusedInTheCpusWords) {
  for (const JpegKind& kind : {JpegKind{}, JpegKind{.chroma = 2}, JpegKind{.chroma = 2, .progressive = true},
                               JpegKind{.restart_rows = 1}, JpegKind{.ycck = true}})
    for (const Bytes& cut : cut_at_every_marker(small_jpeg(64, 72, 3, kind)))
      expect_the_same_as_on_the_cpu(cut, std::to_string(cut.size()) + " bytes");
}

TEST_F(CudaJpegTest, GarbageIsRefusedInTheCpusWords) {
  Bytes png = read_bytes(kPixels / "png.JPEG");
  png.resize(png.size() / 2);
  for (const Bytes& garbage : {Bytes{}, Bytes{0xFF}, Bytes{0xFF, 0xD8, 0xFF, 0xD9}, Bytes(5000, 0x41), png,
                               with_claimed_size(small_jpeg(64, 64, 1), 65535, 65535)})
    expect_the_same_as_on_the_cpu(garbage, std::to_string(garbage.size()) + " bytes");
}

// nvJPEG may decode undetected damage to other pixels than libjpeg; it only must not fail.
TEST_F(CudaJpegTest, DamagedBytesNeverEndTheRow) {
  uint32_t random = 1;
  const auto next = [&random] { return random = random * 1664525u + 1013904223u, random >> 8; };
  for (const char* name : {"420.jpg", "progressive.jpg", "restart.jpg", "grey.jpg"})
    for (int i = 0; i < 100; ++i) {
      Bytes damaged = read_bytes(kPixels / name);
      for (int k = 0; k < 4; ++k) damaged[next() % damaged.size()] = uint8_t(next());
      try {
        const ImageSize size = gpu_->size(damaged);
        if (int64_t(size.width) * size.height <= 1'000'000)
          crop_on_gpu(damaged, {{0, 0, size.width, size.height}, false}, 16);
      } catch (const BadImage&) {
      }
    }
  expect_the_same_as_on_the_cpu(small_jpeg(64, 64, 1), "a good file after them");
}

TEST_F(CudaJpegTest, ALoadersBatchesReachTheNetwork) {
  const TemporaryFolder folder;
  const Dataset dataset = small_dataset(folder.path(), 40);
  const auto storage = StorageRegistry::instance().find("files")({dataset, "", true, {}});
  const DeviceOptions device_options{.row = {.batch_format = "uint8", .image_px = 32}, .batch_size = 8};
  const auto gpu = DeviceRegistry::instance().find("cuda")(device_options),
             cpu = DeviceRegistry::instance().find("cpu")(device_options);
  LoaderOptions options;
  options.batch_size = 8;
  options.image_px = 32;
  options.threads = 4;
  options.classes = 2;
  options.format = BatchFormat::uint8;
  options.sampler.records = 40;
  const auto expected = make_loader(*storage, options);
  options.allocate = gpu->accelerator()->host_allocator();
  options.decoding = gpu->accelerator()->decoding("nvjpeg");
  const auto found = make_loader(*storage, options);
  expected->start();
  found->start();
  for (int i = 0; i < 12; ++i) {
    const Batch here = expected->next(), there = found->next();
    const DeviceBatch on_cpu = cpu->copy_batch(here), on_gpu = gpu->copy_batch(there);
    EXPECT_TRUE(on_gpu.labels.cpu().equal(on_cpu.labels)) << i;
    EXPECT_LT(on_gpu.images.cpu().sub(on_cpu.images).abs().mean().item<double>(), 2 * normalise_scale(1))
        << i;
    gpu->synchronize();
    while (const auto copied = gpu->take_copied()) found->release(*copied);
    expected->release(here);
  }
  EXPECT_EQ(gpu->describe().at("h2d_bytes"), 8 * 8) << "labels alone come from the host";
}

}  // namespace bench::cuda_jpeg_test
