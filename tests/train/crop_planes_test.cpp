// train: crops made with LibTorch operators compared with the CPU decoder's crops.
#include "bench/train/device/crop_planes.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cstring>

#include "bench/image/jpeg.h"
#include "tests/support/small_images.h"

namespace bench::crop_planes_test {

// The whole image as planes.
at::Tensor planes_of(const Bytes& encoded) {
  JpegReader reader;
  const ImageSize size = reader.open(encoded);
  const at::Tensor pixels = at::empty({size.height, size.width, 4}, at::kByte);
  reader.start({0, 0, size.width, size.height});
  for (int y = 0; y < size.height; ++y)
    std::memcpy(pixels[y].mutable_data_ptr(), reader.next_row(), size_t(4) * size_t(size.width));
  reader.finish();
  return pixels.permute({2, 0, 1}).narrow(0, 0, 3).unsqueeze(0).contiguous();
}

at::Tensor box_of(const at::Tensor& planes, const CropBox& box) {
  return planes.narrow(2, box.top, box.height).narrow(3, box.left, box.width);
}

std::vector<float> as_floats(const Bytes& bytes, BatchFormat format) {
  if (format == BatchFormat::uint8) return {bytes.begin(), bytes.end()};
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(CropPlanes, EqualTheDecodersCrops) {
  const Normalisation normalisation(at::kCPU);
  Decoder decoder;
  for (const uint32_t image : {1u, 2u, 3u}) {
    const int width = 130 + int(image) * 41, height = 90 + int(image) * 17;
    const Bytes encoded = small_jpeg(width, height, image, {.chroma = 2});
    const at::Tensor planes = planes_of(encoded);
    for (const CropBox& box : {CropBox{0, 0, width, height}, {9, 4, 100, 80}, {30, 11, 20, 15}, {5, 5, 1, 1}})
      for (const int side : {32, 17})
        for (const bool flip : {false, true})
          for (const BatchFormat format :
               {BatchFormat::uint8, BatchFormat::float32, BatchFormat::channels_last}) {
            Bytes expected(size_t(bytes_per_image(format, side))), found(expected.size());
            decoder.crop({encoded}, {box, flip}, side, format, expected.data());
            write_crop(box_of(planes, box), flip, side, format, normalisation, found.data());
            const auto a = as_floats(expected, format), b = as_floats(found, format);
            const float one = format == BatchFormat::uint8 ? 1 : normalise_scale(1);  // about a pixel value
            double worst = 0, sum = 0;
            for (size_t i = 0; i < a.size(); ++i) {
              const double difference = std::abs(a[i] - b[i]) / one;
              worst = std::max(worst, difference);
              sum += difference;
            }
            EXPECT_LT(worst, 2.1) << "side " << side << ", box " << box.width << "x" << box.height;
            EXPECT_LT(sum / double(a.size()), 0.3)
                << "side " << side << ", box " << box.width << "x" << box.height;
          }
  }
}

}  // namespace bench::crop_planes_test
