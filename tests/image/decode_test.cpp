// unit: decoded pixels against Pillow's, crops against full decodes, and files that are not whole.
#include "bench/image/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "bench/image/jpeg.h"
#include "bench/image/resize.h"
#include "bench/loading/loader/batch_buffer.h"
#include "tests/support/pixel_cases.h"
#include "tests/support/small_images.h"

namespace bench::decode_test {

const std::filesystem::path kPixels = std::filesystem::path(SOURCE_DIR) / "tests/golden/pixels";

TEST(Decode, PixelsEqualPillows) {
  const Bytes expected = read_bytes(kPixels / "expected.bin");
  Decoder decoder;
  size_t offset = 0;
  int count = 0;
  for (const auto& [line, name, augmentation, side] : pixel_cases(kPixels)) {
    const Bytes encoded = read_bytes(kPixels / name);
    Bytes pixels(static_cast<size_t>(3 * side * side));
    ASSERT_NO_THROW(decoder.crop_to_uint8(encoded, augmentation, side, pixels.data())) << line;
    ASSERT_LE(offset + pixels.size(), expected.size());
    int worst = 0, sum = 0;
    for (size_t i = 0; i < pixels.size(); ++i) {
      const int difference = std::abs(pixels[i] - expected[offset + i]);
      worst = std::max(worst, difference);
      sum += difference;
    }
    EXPECT_LE(worst, 2) << line;
    EXPECT_LE(static_cast<double>(sum) / static_cast<double>(pixels.size()), 0.1) << line;
    offset += pixels.size();
    ++count;
  }
  EXPECT_EQ(count, 70);
  EXPECT_EQ(offset, expected.size());
}

TEST(Decode, FloatsAreNormalisedPlanes) {
  const Bytes encoded = small_jpeg(60, 50, 3);
  const Augmentation augmentation{{5, 4, 50, 40}, true};
  constexpr int kSide = 30;
  Bytes hwc(3 * kSide * kSide);
  std::vector<float> chw(hwc.size());
  Decoder decoder;
  decoder.crop_to_uint8(encoded, augmentation, kSide, hwc.data());
  decoder.crop_to_float(encoded, augmentation, kSide, chw.data());
  const double mean[] = {0.485, 0.456, 0.406}, deviation[] = {0.229, 0.224, 0.225};
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < kSide * kSide; ++i)
      ASSERT_NEAR(chw[c * kSide * kSide + i], (hwc[3 * i + c] / 255.0 - mean[c]) / deviation[c], 1e-5);
}

Bytes rows_of(JpegReader& reader, const Bytes& encoded, const CropBox& box) {
  reader.open(encoded);
  reader.start(box);
  Bytes pixels;
  for (int y = 0; y < box.height; ++y) {
    const uint8_t* row = reader.next_row();
    for (int x = 0; x < box.width; ++x) pixels.insert(pixels.end(), row + 4 * x, row + 4 * x + 3);
  }
  reader.finish();
  return pixels;
}

void expect_crops_equal_full_decode(const char* name, const JpegKind& kind) {
  SCOPED_TRACE(name);
  std::mt19937 random(7);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  JpegReader reader;
  for (uint32_t image = 0; image < 6; ++image) {
    const int width = between(9, 150), height = between(9, 130);
    const Bytes encoded = small_jpeg(width, height, image, kind);
    const Bytes full = rows_of(reader, encoded, {0, 0, width, height});
    for (int i = 0; i < 60; ++i) {
      CropBox box;
      box.width = between(1, width);
      box.height = between(1, height);
      box.left = between(0, width - box.width);
      box.top = between(0, height - box.height);
      const Bytes part = rows_of(reader, encoded, box);
      for (int y = 0; y < box.height; ++y) {
        const auto* expected = full.data() + 3 * ((box.top + y) * width + box.left);
        ASSERT_TRUE(std::equal(expected, expected + 3 * box.width, part.data() + 3 * y * box.width))
            << width << "x" << height << " box " << box.left << "," << box.top << " " << box.width << "x"
            << box.height << " row " << y;
      }
    }
  }
}

TEST(Decode, CropsEqualTheFullDecode) {
  expect_crops_equal_full_decode("4:4:4", {.chroma = 1});
  expect_crops_equal_full_decode("4:2:0", {.chroma = 2});
  expect_crops_equal_full_decode("progressive", {.chroma = 2, .progressive = true});
  expect_crops_equal_full_decode("restart markers", {.chroma = 2, .restart_rows = 1});
}

TEST(Decode, VectorAndPlainResizeAgree) {
  for (const auto& [width, height, side] :
       {std::tuple{37, 91, 16}, {300, 20, 64}, {5, 3, 40}, {64, 64, 64}, {1, 1, 7}, {90, 80, 37}}) {
    Resizer fast, plain(true);
    std::mt19937 random(1);
    Bytes row(static_cast<size_t>(3 * width));
    fast.begin(width, height, side, side, true);
    plain.begin(width, height, side, side, true);
    for (int y = 0; y < height; ++y) {
      for (uint8_t& byte : row) byte = static_cast<uint8_t>(random());
      fast.add_rgb_row(row.data());
      plain.add_rgb_row(row.data());
    }
    Bytes a(static_cast<size_t>(3 * side * side)), b(a.size());
    fast.to_uint8(a.data());
    plain.to_uint8(b.data());
    EXPECT_EQ(a, b) << width << "x" << height;
    std::vector<float> plain_planes(a.size()), last(a.size()), plain_last(a.size());
    BatchBuffer aligned(1, static_cast<int64_t>(4 * a.size()));  // stored past the caches where rows allow it
    auto* const planes = reinterpret_cast<float*>(aligned.images());
    fast.to_float(planes);
    plain.to_float(plain_planes.data());
    fast.to_float_last(last.data());
    plain.to_float_last(plain_last.data());
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(planes[i], plain_planes[i], 1e-6);
      EXPECT_NEAR(last[i], plain_last[i], 1e-6);
      EXPECT_EQ(last[i], planes[i % 3 * side * side + i / 3]);
    }
  }
}

TEST(Decode, RawPixelsAreCroppedLikeDecodedOnes) {
  JpegReader reader;
  const Bytes encoded = small_jpeg(70, 50, 3), pixels = rows_of(reader, encoded, {0, 0, 70, 50});
  const EncodedImage raw{pixels, 0, 70, 50};
  Decoder decoder;
  EXPECT_EQ(decoder.size(raw).width, 70);
  for (const CropBox& box : {CropBox{0, 0, 70, 50}, {5, 4, 50, 40}, {69, 49, 1, 1}})
    for (const bool flip : {false, true}) {
      Bytes from_raw(3 * 32 * 32), from_jpeg(from_raw.size());
      decoder.crop(raw, {box, flip}, 32, BatchFormat::uint8, from_raw.data());
      decoder.crop_to_uint8(encoded, {box, flip}, 32, from_jpeg.data());
      EXPECT_EQ(from_raw, from_jpeg);
    }
  EXPECT_THROW(decoder.size({std::span(pixels).first(100), 0, 70, 50}), BadImage);
  EXPECT_THROW(decoder.size({{}, 0, 0, 0}), BadImage);
}

TEST(Decode, YcckIsReadAsAdobeWritesIt) {
  JpegReader reader;
  const Bytes encoded = small_jpeg(32, 24, 5, {.quality = 100, .ycck = true});
  EXPECT_EQ(rows_of(reader, encoded, {0, 0, 32, 24}).size(), 32u * 24 * 3);
}

// The crop needs only the first rows; the damage is after them.
constexpr CropBox kTop{0, 0, 40, 8};

void expect_bad(const Bytes& encoded, const std::string& what) {
  Decoder decoder;
  Bytes pixels(3 * 8 * 8);
  EXPECT_THROW(decoder.crop_to_uint8(encoded, {kTop, false}, 8, pixels.data()), BadImage) << what;
  const Bytes good = small_jpeg(64, 64, 1);  // the same decoder goes on
  EXPECT_NO_THROW(decoder.crop_to_uint8(good, {kTop, false}, 8, pixels.data())) << what;
}

TEST(Decode, TruncationIsNoticedBelowTheCrop) {
  for (const JpegKind& kind :
       {JpegKind{}, JpegKind{.chroma = 2}, JpegKind{.progressive = true}, JpegKind{.restart_rows = 1}}) {
    const Bytes whole = small_jpeg(64, 200, 2, kind);
    for (const double share : {0.1, 0.5, 0.7, 0.9, 0.98}) {
      Bytes cut(whole.begin(), whole.begin() + static_cast<long>(share * static_cast<double>(whole.size())));
      expect_bad(cut, "cut at " + std::to_string(share));
      cut.resize(whole.size(), 0);  // as a copy that was interrupted after its space was reserved
      expect_bad(cut, "zeros from " + std::to_string(share));
    }
  }
}

TEST(Decode, ThumbnailsEndMarkerDoesNotHideTruncation) {
  Bytes cut = read_bytes(kPixels / "exif.jpg");
  cut.resize(cut.size() * 3 / 4);
  expect_bad(cut, "exif.jpg");
}

TEST(Decode, BytesAfterTheEndAreNoDamage) {
  Bytes encoded = small_jpeg(64, 64, 1);
  for (const size_t extra : {1u, 2u, 700u, 100000u}) {
    encoded.resize(encoded.size() + extra, 0x55);
    Decoder decoder;
    Bytes pixels(3 * 8 * 8);
    EXPECT_NO_THROW(decoder.crop_to_uint8(encoded, {kTop, false}, 8, pixels.data()));
  }
}

TEST(Decode, GarbageIsBad) {
  expect_bad({}, "empty");
  expect_bad({0xFF}, "one byte");
  expect_bad({0xFF, 0xD8, 0xFF, 0xD9}, "no image in it");
  expect_bad(Bytes(5000, 0x41), "text");
  Bytes claims = small_jpeg(64, 64, 1);
  const uint8_t start_of_frame[] = {0xFF, 0xC0};
  const auto frame = std::search(claims.begin(), claims.end(), start_of_frame, start_of_frame + 2);
  ASSERT_NE(frame, claims.end());
  std::fill(frame + 5, frame + 9, 0xFF);  // 65535 x 65535
  expect_bad(claims, "a huge size");
  Bytes png = read_bytes(kPixels / "png.JPEG");
  png.resize(png.size() / 2);
  Decoder decoder;
  Bytes pixels(3 * 8 * 8);
  EXPECT_THROW(decoder.crop_to_uint8(png, {kTop, false}, 8, pixels.data()), BadImage);
  png.resize(20);
  EXPECT_THROW(decoder.size(png), BadImage);
}

TEST(Decode, DamagedBytesNeverCrash) {
  std::mt19937 random(11);
  Decoder decoder;
  Bytes pixels(3 * 16 * 16);
  for (const char* name :
       {"420.jpg", "progressive.jpg", "cmyk.jpg", "restart.jpg", "png.JPEG", "palette.png"}) {
    const Bytes whole = read_bytes(kPixels / name);
    for (int i = 0; i < 150; ++i) {
      Bytes damaged = whole;
      for (int k = 0; k < 4; ++k) damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
      try {
        const ImageSize size = decoder.size(damaged);
        if (static_cast<int64_t>(size.width) * size.height > 1'000'000) continue;  // keeps the test fast
        decoder.crop_to_uint8(damaged, {{0, 0, size.width, size.height}, false}, 16, pixels.data());
      } catch (const BadImage&) {
      }
    }
  }
}

}  // namespace bench::decode_test
