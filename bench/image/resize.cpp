// Two passes: horizontal while a row is still in the L1 cache, then vertical into the batch.
#include "bench/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bench {
namespace {

// The vertical pass needs all rows of the box in memory. Above this limit the horizontal pass comes first to
// save memory; the result then differs by at most 1.
constexpr int64_t kMostPixelsHeld = 32'000'000;

// Never shrinks, so that there are no allocations after the largest image.
template <class T>
void grow(std::vector<T>& buffer, size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

int padded(int bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

}  // namespace

// Pillow's precompute_coeffs and normalize_coeffs_8bpc (src/libImaging/Resample.c), for the bilinear filter.
// Every output has the same number of taps; windows at the edges are shifted inwards and padded with zero
// weights.
void ResizeTaps::compute(int input_size, int output_size) {
  const double scale = static_cast<double>(input_size) / output_size;
  const double filter_scale = std::max(scale, 1.0), sharpness = 1 / filter_scale;
  width = 1;
  grow(first, output_size);
  const auto bounds = [&](int i, int& low, int& high) {
    const double centre = (i + 0.5) * scale;
    low = std::max(0, static_cast<int>(centre - filter_scale + 0.5));
    high = std::min(input_size, static_cast<int>(centre + filter_scale + 0.5));
  };
  for (int i = 0, low, high; i < output_size; ++i) {
    bounds(i, low, high);
    width = std::max(width, high - low);
  }
  stride = (width + 1) / 2 * 2;
  grow(weight, static_cast<size_t>(output_size) * stride + kPadding);
  for (int i = 0, low, high; i < output_size; ++i) {
    bounds(i, low, high);
    const double centre = (i + 0.5) * scale;
    const auto triangle = [&](int k) {
      return std::max(0.0, 1 - std::abs((low + k - centre + 0.5) * sharpness));
    };
    double sum = 0;
    for (int k = 0; k < high - low; ++k) sum += triangle(k);
    first[i] = std::max(0, std::min(low, input_size - width));
    int32_t* taps = weight.data() + static_cast<size_t>(i) * stride;
    std::fill(taps, taps + stride, 0);
    for (int k = 0; k < high - low; ++k)
      taps[low - first[i] + k] = static_cast<int32_t>(0.5 + triangle(k) / sum * (1 << kWeightBits));
  }
}

void Resizer::begin(int input_width, int input_height, int width, int height, bool flip) {
  width_ = width;
  height_ = height;
  flip_ = flip;
  rows_ = 0;
  input_width_ = input_width;
  // Pillow 13's rule (ImagingResampleInner). The order matters because of the 8-bit rounding in between:
  // about one pixel in six differs by 1. Older versions always do the horizontal pass first.
  down_first_ = input_height > height && input_height - height > 2 * (input_width - width) &&
                int64_t{input_width} * input_height <= kMostPixelsHeld;
  across_.compute(input_width, width);
  down_.compute(input_height, height);
  stride_ = padded(4 * (down_first_ ? input_width : width));
  grow(rows_in_, static_cast<size_t>(stride_) * input_height);
  grow(between_, stride_ + kRowPadding);
  grow(row_, padded(4 * width));
}

void Resizer::across(const uint8_t* in, uint8_t* out) {
  if (flip_) out += 4 * (width_ - 1);
  kernels_.narrow_row(in, out, flip_ ? -4 : 4, across_, width_);
}

void Resizer::add_row(const uint8_t* rgbx) {
  uint8_t* row = rows_in_.data() + static_cast<size_t>(stride_) * rows_++;
  if (down_first_)
    std::memcpy(row, rgbx, 4 * static_cast<size_t>(input_width_));
  else
    across(rgbx, row);
}

void Resizer::add_rgb_row(const uint8_t* rgb) {
  grow(widened_, 4 * static_cast<size_t>(input_width_) + kRowPadding);
  kernels_.widen_row(rgb, widened_.data(), input_width_);
  add_row(widened_.data());
}

const uint8_t* Resizer::output_row(int y) {
  uint8_t* sum = down_first_ ? between_.data() : row_.data();
  kernels_.sum_rows(rows_in_.data() + static_cast<size_t>(stride_) * down_.first[y], stride_,
                    down_.weight.data() + static_cast<size_t>(y) * down_.stride, down_.width, sum, stride_);
  if (down_first_) across(sum, row_.data());
  return row_.data();
}

void Resizer::to_uint8(uint8_t* hwc) {
  for (int y = 0; y < height_; ++y, hwc += 3 * width_) kernels_.narrow_pixels(output_row(y), hwc, width_);
}

void Resizer::to_float_last(float* hwc) {
  for (int y = 0; y < height_; ++y, hwc += 3 * width_) kernels_.normalise_pixels(output_row(y), hwc, width_);
}

void Resizer::to_float(float* chw) {
  const size_t plane = static_cast<size_t>(width_) * height_;
  for (int y = 0; y < height_; ++y) {
    float* out = chw + static_cast<size_t>(y) * width_;
    kernels_.normalise_row(output_row(y), out, out + plane, out + 2 * plane, width_);
  }
  kernels_.finish();
}

}  // namespace bench
