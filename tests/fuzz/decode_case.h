// One fuzzing input: six bytes that define the crop, then an encoded image.
#pragma once
#include <zlib.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "bench/image/decode.h"

namespace bench {

inline constexpr size_t kCropBytes =
    6;  // flags, side, left, top, width, height; the last four as shares of 256
inline constexpr uint8_t kHuge = 255;  // as side: images beyond kUsualPixels too, which take most of the time
inline constexpr int64_t kUsualPixels = 200'000;
enum : uint8_t { kFlip = 1, kFloats = 2, kOutside = 4, kWithoutSize = 8, kRepairChecksums = 16 };

// A PNG's chunks carry checksums, which no mutation hits by chance.
inline void repair_png_checksums(std::span<uint8_t> png) {
  for (size_t at = 8; at + 12 <= png.size();) {
    const size_t length =
        size_t{png[at]} << 24 | size_t{png[at + 1]} << 16 | size_t{png[at + 2]} << 8 | png[at + 3];
    if (length > png.size() - at - 12) return;
    const uint8_t* type = png.data() + at + 4;
    const auto sum = static_cast<uint32_t>(crc32(0, type, static_cast<uInt>(length + 4)));
    for (int i = 0; i < 4; ++i)
      png[at + 8 + length + static_cast<size_t>(i)] = static_cast<uint8_t>(sum >> (24 - 8 * i));
    at += 12 + length;
  }
}

// Returns true if the image was decoded; false if it was refused with BadImage or its box is deliberately
// outside. Any other exception is a bug and propagates.
inline bool decode_case(std::span<const uint8_t> input) {
  if (input.size() < kCropBytes) return false;
  const uint8_t flags = input[0];
  const int side = 1 + input[1] % 64;
  std::vector<uint8_t> encoded(input.begin() + kCropBytes,
                               input.end());  // of just this size: a read beyond shows
  if (flags & kRepairChecksums) repair_png_checksums(encoded);
  Decoder decoder;
  const auto share = [](int whole, uint8_t part) { return static_cast<int>(int64_t{whole} * part / 256); };
  try {
    const ImageSize size = decoder.size(encoded);
    if (int64_t{size.width} * size.height > kUsualPixels && input[1] != kHuge) return false;
    Augmentation augmentation;
    augmentation.flip = flags & kFlip;
    CropBox& box = augmentation.box;
    box.left = share(size.width, input[2]);
    box.top = share(size.height, input[3]);
    box.width = 1 + share(size.width - box.left, input[4]);
    box.height = 1 + share(size.height - box.top, input[5]);
    if (flags & kOutside) box.width += size.width;
    const std::vector<uint8_t> copy = encoded;
    const std::vector<uint8_t>& bytes =
        flags & kWithoutSize ? copy : encoded;  // of a copy no header is known
    const auto values = static_cast<size_t>(3 * side * side);
    if (flags & kFloats) {
      std::vector<float> planes(values);
      decoder.crop_to_float(bytes, augmentation, side, planes.data());
    } else {
      std::vector<uint8_t> pixels(values);
      decoder.crop_to_uint8(bytes, augmentation, side, pixels.data());
    }
    if (flags & kOutside) throw std::logic_error("a box outside the image was accepted");
    return true;
  } catch (const BadImage&) {
    return false;
  } catch (const std::invalid_argument&) {
    if (!(flags & kOutside)) throw;
    return false;
  }
}

}  // namespace bench
