// The resizer's kernels in plain C++: the reference for testing the vector kernels, and used for rows shorter
// than a vector.
#include <cstring>

#include "bench/image/batch_format.h"
#include "bench/image/resize_kernels.h"

namespace bench {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

void narrow_row(const uint8_t* in, uint8_t* out, int step, const ResizeTaps& taps, int side) {
  const int width = taps.width;
  const int32_t* weight = taps.weight.data();
  for (int x = 0; x < side; ++x, out += step, weight += taps.stride) {
    const uint8_t* pixel = in + 4 * taps.first[x];
    int32_t red = kHalf, green = kHalf, blue = kHalf;
    for (int k = 0; k < width; ++k, pixel += 4) {
      red += pixel[0] * weight[k];
      green += pixel[1] * weight[k];
      blue += pixel[2] * weight[k];
    }
    out[0] = static_cast<uint8_t>(red >> kWeightBits);
    out[1] = static_cast<uint8_t>(green >> kWeightBits);
    out[2] = static_cast<uint8_t>(blue >> kWeightBits);
  }
}

void sum_rows(const uint8_t* first, int stride, const int32_t* weight, int width, uint8_t* out, int bytes) {
  for (int x = 0; x < bytes; ++x) {
    int32_t sum = kHalf;
    for (int k = 0; k < width; ++k) sum += first[x + k * stride] * weight[k];
    out[x] = static_cast<uint8_t>(sum >> kWeightBits);
  }
}

void normalise_row(const uint8_t* rgbx, float* red, float* green, float* blue, int side) {
  for (int x = 0; x < side; ++x, rgbx += 4) {
    red[x] = static_cast<float>(rgbx[0]) * normalise_scale(0) + normalise_shift(0);
    green[x] = static_cast<float>(rgbx[1]) * normalise_scale(1) + normalise_shift(1);
    blue[x] = static_cast<float>(rgbx[2]) * normalise_scale(2) + normalise_shift(2);
  }
}

void normalise_pixels(const uint8_t* rgbx, float* rgb, int pixels) {
  for (int x = 0; x < pixels; ++x)
    for (int c = 0; c < 3; ++c)
      rgb[3 * x + c] = static_cast<float>(rgbx[4 * x + c]) * normalise_scale(c) + normalise_shift(c);
}

void narrow_pixels(const uint8_t* in, uint8_t* out, int pixels) {
  for (int x = 0; x < pixels; ++x) std::memcpy(out + 3 * x, in + 4 * x, 3);
}

void widen_row(const uint8_t* in, uint8_t* out, int pixels) {
  for (int x = 0; x < pixels; ++x) std::memcpy(out + 4 * x, in + 3 * x, 3);
}

}  // namespace

ResizeKernels plain_kernels() {
  return {narrow_row, sum_rows, normalise_row, normalise_pixels, narrow_pixels, widen_row, [] {}};
}

}  // namespace bench
