// The two passes: across while rows arrive (they are still in the first-level cache), then down into the batch.
#include "bench/loader/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// One binary for every x86-64: the loader picks the AVX2 version at start-up. Sanitizers' runtimes aren't up yet when
// it picks, so their builds get the plain version.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

namespace bench {
namespace {

constexpr int kFractionBits = 22;  // Pillow's PRECISION_BITS: 8-bit pixel x 22-bit weight, 2 bits of headroom
constexpr int32_t kHalf = 1 << (kFractionBits - 1);

using Pixel = int32_t __attribute__((vector_size(16)));  // R, G, B, unused

inline Pixel load_pixel(const uint8_t* rgbx) {
  using Bytes = uint8_t __attribute__((vector_size(4)));
  Bytes bytes;
  std::memcpy(&bytes, rgbx, 4);
  return __builtin_convertvector(bytes, Pixel);
}

inline void store_pixel(uint8_t* rgbx, Pixel sum) {  // bilinear weights are positive and add up to 1: no clipping
  using Bytes = uint8_t __attribute__((vector_size(4)));
  const Bytes bytes = __builtin_convertvector(sum >> kFractionBits, Bytes);
  std::memcpy(rgbx, &bytes, 4);
}

template <int WIDTH>  // 0: any
inline void narrow(const uint8_t* in, uint8_t* out, int step, const ResizeTaps& taps, int side) {
  const int width = WIDTH ? WIDTH : taps.width;
  const int32_t* weight = taps.weight.data();
  for (int x = 0; x < side; ++x, out += step, weight += width) {
    const uint8_t* pixel = in + 4 * taps.first[x];
    Pixel sum = {kHalf, kHalf, kHalf, kHalf};
    for (int k = 0; k < width; ++k) sum += load_pixel(pixel + 4 * k) * weight[k];
    store_pixel(out, sum);
  }
}

FOR_EACH_CPU void narrow_row(const uint8_t* in, uint8_t* out, const ResizeTaps& taps, int side, bool flip) {
  const int step = flip ? -4 : 4;
  if (flip) out += 4 * (side - 1);
  switch (taps.width) {
    case 2: return narrow<2>(in, out, step, taps, side);
    case 3: return narrow<3>(in, out, step, taps, side);
    case 4: return narrow<4>(in, out, step, taps, side);
    case 5: return narrow<5>(in, out, step, taps, side);
    case 6: return narrow<6>(in, out, step, taps, side);
    default: return narrow<0>(in, out, step, taps, side);
  }
}

// `bytes` is a multiple of kBlock.
constexpr int kBlock = 32;
FOR_EACH_CPU void sum_rows(const uint8_t* first, int stride, const int32_t* weight, int width, uint8_t* out, int bytes) {
  for (int x = 0; x < bytes; x += kBlock) {
    int32_t sum[kBlock];
    for (int i = 0; i < kBlock; ++i) sum[i] = kHalf;
    const uint8_t* row = first + x;
    for (int k = 0; k < width; ++k, row += stride)
      for (int i = 0; i < kBlock; ++i) sum[i] += row[i] * weight[k];
    for (int i = 0; i < kBlock; ++i) out[x + i] = static_cast<uint8_t>(sum[i] >> kFractionBits);
  }
}

constexpr float kMean[3] = {0.485f, 0.456f, 0.406f}, kDeviation[3] = {0.229f, 0.224f, 0.225f};

FOR_EACH_CPU void normalise_row(const uint8_t* rgbx, float* red, float* green, float* blue, int side) {
  constexpr float r1 = 1 / (255 * kDeviation[0]), r0 = -kMean[0] / kDeviation[0];
  constexpr float g1 = 1 / (255 * kDeviation[1]), g0 = -kMean[1] / kDeviation[1];
  constexpr float b1 = 1 / (255 * kDeviation[2]), b0 = -kMean[2] / kDeviation[2];
  for (int x = 0; x < side; ++x) {
    int32_t pixel;  // one load and shifts: vectors without shuffles
    std::memcpy(&pixel, rgbx + 4 * x, 4);
    red[x] = static_cast<float>(pixel & 255) * r1 + r0;
    green[x] = static_cast<float>(pixel >> 8 & 255) * g1 + g0;
    blue[x] = static_cast<float>(pixel >> 16 & 255) * b1 + b0;
  }
}

template <class T>
void grow(std::vector<T>& buffer, size_t size) {  // never shrinks: no allocation once the largest image was seen
  if (buffer.size() < size) buffer.resize(size);
}

int padded(int bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

}  // namespace

// Pillow's precompute_coeffs and normalize_coeffs_8bpc (src/libImaging/Resample.c), for the bilinear filter. Every
// output gets the same number of taps, windows at the edges are moved inwards and filled with zero weights.
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
  grow(weight, static_cast<size_t>(output_size) * width);
  for (int i = 0, low, high; i < output_size; ++i) {
    bounds(i, low, high);
    const double centre = (i + 0.5) * scale;
    const auto triangle = [&](int k) { return std::max(0.0, 1 - std::abs((low + k - centre + 0.5) * sharpness)); };
    double sum = 0;
    for (int k = 0; k < high - low; ++k) sum += triangle(k);
    first[i] = std::max(0, std::min(low, input_size - width));
    int32_t* taps = weight.data() + static_cast<size_t>(i) * width;
    std::fill(taps, taps + width, 0);
    for (int k = 0; k < high - low; ++k)
      taps[low - first[i] + k] = static_cast<int32_t>(0.5 + triangle(k) / sum * (1 << kFractionBits));
  }
}

void Resizer::begin(int input_width, int input_height, int side, bool flip) {
  side_ = side;
  flip_ = flip;
  rows_ = 0;
  input_width_ = input_width;
  input_height_ = input_height;
  across_.compute(input_width, side);
  down_.compute(input_height, side);
  grow(narrowed_, static_cast<size_t>(padded(4 * side)) * input_height);
  grow(row_, padded(4 * side));
}

void Resizer::add_row(const uint8_t* rgbx) {
  narrow_row(rgbx, narrowed_.data() + static_cast<size_t>(padded(4 * side_)) * rows_++, across_, side_, flip_);
}

const uint8_t* Resizer::output_row(int y) {
  const int stride = padded(4 * side_);
  sum_rows(narrowed_.data() + static_cast<size_t>(stride) * down_.first[y], stride,
           down_.weight.data() + static_cast<size_t>(y) * down_.width, down_.width, row_.data(), stride);
  return row_.data();
}

void Resizer::to_uint8(uint8_t* hwc) {
  for (int y = 0; y < side_; ++y) {
    const uint8_t* row = output_row(y);
    for (int x = 0; x < side_; ++x, hwc += 3) {
      hwc[0] = row[4 * x];
      hwc[1] = row[4 * x + 1];
      hwc[2] = row[4 * x + 2];
    }
  }
}

void Resizer::to_float(float* chw) {
  const size_t plane = static_cast<size_t>(side_) * side_;
  for (int y = 0; y < side_; ++y) {
    float* out = chw + static_cast<size_t>(y) * side_;
    normalise_row(output_row(y), out, out + plane, out + 2 * plane, side_);
  }
}

}  // namespace bench
