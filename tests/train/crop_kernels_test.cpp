// unit: the GPU kernel that crops and resizes a batch, run by threads of the CPU, against the CPU's resizer.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "bench/image/resize.h"

// The words of CUDA C++ come before kernels.
// clang-format off
#include "tests/support/kernels_on_cpu.h"
#include "bench/train/cuda/crop_kernels.cuh"
// clang-format on

namespace bench::crop_kernels_test {

struct Planes {
  int width, height;
  std::vector<uint8_t> values;  // 3 x height x width
  Planes(int w, int h) : width(w), height(h), values(size_t(3 * w * h)) {
    std::mt19937 random{unsigned(w)};
    // Smooth with some noise, as pictures are.
    for (int channel = 0; channel < 3; ++channel)
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
          values[size_t((channel * h + y) * w + x)] =
              uint8_t((x * (channel + 1) + 2 * y) % 200 + int(random() % 50));
  }
  const uint8_t* plane(int channel) const { return values.data() + channel * width * height; }
  DecodedImage crop(int left, int top, int box_width, int box_height, bool flip, void* out) const {
    return {{plane(0), plane(1), plane(2)}, width, left, top, box_width, box_height, flip, out};
  }
  std::vector<uint8_t> row_of_rgb(int left, int y, int count) const {
    std::vector<uint8_t> row;
    for (int x = left; x < left + count; ++x)
      for (int channel = 0; channel < 3; ++channel) row.push_back(plane(channel)[y * width + x]);
    return row;
  }
};

template <BatchFormat format>
void run(const std::vector<DecodedImage>& images, int side) {
  run_on_cpu({unsigned(side * side + 63) / 64, unsigned(images.size()), 1}, {64, 1, 1},
             [&] { crop_and_resize<format>(images.data(), side); });
}

TEST(CropKernels, EqualTheCpusResizer) {
  const Planes small(37, 29), large(150, 90);
  struct Box {
    const Planes& image;
    int left, top, width, height;
    bool flip;
  };
  const std::vector<Box> boxes{{small, 0, 0, 37, 29, false},
                               {small, 5, 3, 20, 21, true},
                               {large, 0, 0, 150, 90, true},
                               {large, 33, 11, 7, 60, false},
                               {large, 149, 89, 1, 1, false}};
  for (const int side : {1, 16, 33}) {
    std::vector<std::vector<uint8_t>> found(boxes.size(), std::vector<uint8_t>(size_t(3 * side * side), 77));
    std::vector<DecodedImage> images;
    for (size_t i = 0; i < boxes.size(); ++i) {
      const Box& b = boxes[i];
      images.push_back(b.image.crop(b.left, b.top, b.width, b.height, b.flip, found[i].data()));
    }
    run<BatchFormat::uint8>(images, side);
    for (size_t i = 0; i < boxes.size(); ++i) {
      const Box& b = boxes[i];
      Resizer resizer;
      resizer.begin(b.width, b.height, side, side, b.flip);
      for (int y = 0; y < b.height; ++y)
        resizer.add_rgb_row(b.image.row_of_rgb(b.left, b.top + y, b.width).data());
      std::vector<uint8_t> expected(found[i].size());
      resizer.to_uint8(expected.data());
      for (size_t k = 0; k < expected.size(); ++k)  // it rounds between the passes, too
        ASSERT_NEAR(int(found[i][k]), int(expected[k]), 1)
            << "box " << i << ", " << side << " px, value " << k;
    }
  }
}

TEST(CropKernels, FormatsHoldTheSamePixels) {
  const Planes image(50, 40);
  constexpr int kSide = 17, kArea = kSide * kSide;
  std::vector<uint8_t> pixels(3 * kArea);
  std::vector<float> planes(3 * kArea), last(3 * kArea);
  run<BatchFormat::uint8>({image.crop(4, 6, 41, 30, true, pixels.data())}, kSide);
  run<BatchFormat::float32>({image.crop(4, 6, 41, 30, true, planes.data())}, kSide);
  run<BatchFormat::channels_last>({image.crop(4, 6, 41, 30, true, last.data())}, kSide);
  for (int i = 0; i < 3 * kArea; ++i) {
    const int channel = i % 3;
    ASSERT_EQ(last[size_t(i)], planes[size_t(channel * kArea + i / 3)]);
    ASSERT_NEAR(last[size_t(i)], pixels[size_t(i)] * normalise_scale(channel) + normalise_shift(channel),
                1e-5);
  }
}

}  // namespace bench::crop_kernels_test
