// The two passes: across while rows arrive (they are still in the first-level cache), then down into the
// batch.
#include "bench/loader/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

constexpr int kFractionBits = 22;  // Pillow's PRECISION_BITS: 8-bit pixel x 22-bit weight, 2 bits of headroom
constexpr int32_t kHalf = 1 << (kFractionBits - 1);

constexpr int kBlock = 32;  // bytes that the pass down works on at a time
constexpr float kMean[3] = {0.485f, 0.456f, 0.406f}, kDeviation[3] = {0.229f, 0.224f, 0.225f};

// Bilinear weights are positive and add up to 1 (2^22): no sum needs clipping.
using NarrowRow = void (*)(const uint8_t* in, uint8_t* out, int step, const ResizeTaps& taps, int side);
using SumRows = void (*)(const uint8_t* first, int stride, const int32_t* weight, int width, uint8_t* out,
                         int bytes);
using NormaliseRow = void (*)(const uint8_t* rgbx, float* red, float* green, float* blue, int side);

struct Kernels {
  NarrowRow narrow_row;
  SumRows sum_rows;
  NormaliseRow normalise_row;
};

void narrow_row(const uint8_t* in, uint8_t* out, int step, const ResizeTaps& taps, int side) {
  const int width = taps.width;
  const int32_t* weight = taps.weight.data();
  for (int x = 0; x < side; ++x, out += step, weight += width) {
    const uint8_t* pixel = in + 4 * taps.first[x];
    int32_t red = kHalf, green = kHalf, blue = kHalf;
    for (int k = 0; k < width; ++k, pixel += 4) {
      red += pixel[0] * weight[k];
      green += pixel[1] * weight[k];
      blue += pixel[2] * weight[k];
    }
    out[0] = static_cast<uint8_t>(red >> kFractionBits);
    out[1] = static_cast<uint8_t>(green >> kFractionBits);
    out[2] = static_cast<uint8_t>(blue >> kFractionBits);
  }
}

// The loops below are left to the compiler's vectoriser, once for each instruction set.
[[gnu::always_inline]] inline void sum_rows_inline(const uint8_t* first, int stride, const int32_t* weight,
                                                   int width, uint8_t* out, int bytes) {
  for (int x = 0; x < bytes; x += kBlock) {
    int32_t sum[kBlock];
    for (int i = 0; i < kBlock; ++i) sum[i] = kHalf;
    const uint8_t* row = first + x;
    for (int k = 0; k < width; ++k, row += stride)
      for (int i = 0; i < kBlock; ++i) sum[i] += row[i] * weight[k];
    for (int i = 0; i < kBlock; ++i) out[x + i] = static_cast<uint8_t>(sum[i] >> kFractionBits);
  }
}

[[gnu::always_inline]] inline void normalise_row_inline(const uint8_t* rgbx, float* __restrict red,
                                                        float* __restrict green, float* __restrict blue,
                                                        int side) {
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

void sum_rows(const uint8_t* first, int stride, const int32_t* weight, int width, uint8_t* out, int bytes) {
  sum_rows_inline(first, stride, weight, width, out, bytes);
}

void normalise_row(const uint8_t* rgbx, float* red, float* green, float* blue, int side) {
  normalise_row_inline(rgbx, red, green, blue, side);
}

#if defined(__x86_64__)

// Two taps of R, G, B, X fill one register.
template <int PAIRS>  // 0: any
[[gnu::target("avx2"), gnu::always_inline]] inline void narrow_row_pairs(const uint8_t* in, uint8_t* out,
                                                                         int step, const ResizeTaps& taps,
                                                                         int side) {
  const int pairs = PAIRS ? PAIRS : (taps.width + 1) / 2;
  const int32_t *first = taps.first.data(), *spread = taps.spread.data();
  const __m128i half = _mm_set1_epi32(kHalf);
  const __m128i low_bytes = _mm_setr_epi8(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  for (int x = 0; x < side; ++x, out += step) {
    const uint8_t* pixel = in + 4 * first[x];
    __m256i sum = _mm256_setzero_si256();
    for (int k = 0; k < pairs; ++k, pixel += 8, spread += 8) {
      const __m256i two = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixel)));
      const __m256i weights = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(spread));
      sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(two, weights));
    }
    __m128i total = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    total = _mm_srli_epi32(_mm_add_epi32(total, half), kFractionBits);
    const int32_t packed = _mm_cvtsi128_si32(_mm_shuffle_epi8(total, low_bytes));
    std::memcpy(out, &packed, 4);
  }
}

[[gnu::target("avx2")]] void narrow_row_avx2(const uint8_t* in, uint8_t* out, int step,
                                             const ResizeTaps& taps, int side) {
  switch ((taps.width + 1) / 2) {
    case 1:
      return narrow_row_pairs<1>(in, out, step, taps, side);
    case 2:
      return narrow_row_pairs<2>(in, out, step, taps, side);
    case 3:
      return narrow_row_pairs<3>(in, out, step, taps, side);
    default:
      return narrow_row_pairs<0>(in, out, step, taps, side);
  }
}

[[gnu::target("avx2")]] void sum_rows_avx2(const uint8_t* first, int stride, const int32_t* weight, int width,
                                           uint8_t* out, int bytes) {
  sum_rows_inline(first, stride, weight, width, out, bytes);
}

[[gnu::target("avx2")]] void normalise_row_avx2(const uint8_t* rgbx, float* red, float* green, float* blue,
                                                int side) {
  normalise_row_inline(rgbx, red, green, blue, side);
}

#endif

Kernels kernels(bool plain) {
#if defined(__x86_64__)
  if (!plain && __builtin_cpu_supports("avx2")) return {narrow_row_avx2, sum_rows_avx2, normalise_row_avx2};
#endif
  return {narrow_row, sum_rows, normalise_row};
}

template <class T>
void grow(std::vector<T>& buffer,
          size_t size) {  // never shrinks: no allocation once the largest image was seen
  if (buffer.size() < size) buffer.resize(size);
}

int padded(int bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

}  // namespace

// Pillow's precompute_coeffs and normalize_coeffs_8bpc (src/libImaging/Resample.c), for the bilinear filter.
// Every output gets the same number of taps, windows at the edges are moved inwards and filled with zero
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
  grow(weight, static_cast<size_t>(output_size) * width);
  grow(spread, static_cast<size_t>(output_size) * (width + 1) / 2 * 8);
  int32_t* copies = spread.data();
  for (int i = 0, low, high; i < output_size; ++i) {
    bounds(i, low, high);
    const double centre = (i + 0.5) * scale;
    const auto triangle = [&](int k) {
      return std::max(0.0, 1 - std::abs((low + k - centre + 0.5) * sharpness));
    };
    double sum = 0;
    for (int k = 0; k < high - low; ++k) sum += triangle(k);
    first[i] = std::max(0, std::min(low, input_size - width));
    int32_t* taps = weight.data() + static_cast<size_t>(i) * width;
    std::fill(taps, taps + width, 0);
    for (int k = 0; k < high - low; ++k)
      taps[low - first[i] + k] = static_cast<int32_t>(0.5 + triangle(k) / sum * (1 << kFractionBits));
    for (int k = 0; k < (width + 1) / 2 * 2; ++k, copies += 4)
      std::fill(copies, copies + 4, k < width ? taps[k] : 0);
  }
}

struct Resizer::Choice : Kernels {};

Resizer::Resizer(bool plain) : kernels_(new Choice{kernels(plain)}) {}
Resizer::~Resizer() = default;

void Resizer::begin(int input_width, int input_height, int side, bool flip) {
  side_ = side;
  flip_ = flip;
  rows_ = 0;
  input_width_ = input_width;
  // Pillow 13's rule (ImagingResampleInner). The 8-bit rounding in between makes the order visible: about one
  // pixel in six differs by 1. Older versions always went across first.
  down_first_ = input_height > side && input_height - side > 2 * (input_width - side);
  across_.compute(input_width, side);
  down_.compute(input_height, side);
  stride_ = padded(4 * (down_first_ ? input_width : side));
  grow(rows_in_, static_cast<size_t>(stride_) * input_height);
  grow(between_, stride_ + kRowPadding);
  grow(row_, padded(4 * side));
}

void Resizer::across(const uint8_t* in, uint8_t* out) {
  if (flip_) out += 4 * (side_ - 1);
  kernels_->narrow_row(in, out, flip_ ? -4 : 4, across_, side_);
}

void Resizer::add_row(const uint8_t* rgbx) {
  uint8_t* row = rows_in_.data() + static_cast<size_t>(stride_) * rows_++;
  if (down_first_)
    std::memcpy(row, rgbx, 4 * static_cast<size_t>(input_width_));
  else
    across(rgbx, row);
}

const uint8_t* Resizer::output_row(int y) {
  uint8_t* sum = down_first_ ? between_.data() : row_.data();
  kernels_->sum_rows(rows_in_.data() + static_cast<size_t>(stride_) * down_.first[y], stride_,
                     down_.weight.data() + static_cast<size_t>(y) * down_.width, down_.width, sum, stride_);
  if (down_first_) across(sum, row_.data());
  return row_.data();
}

void Resizer::to_uint8(uint8_t* hwc) {
  for (int y = 0; y < side_; ++y) {
    const uint8_t* row = output_row(y);
    for (int x = 0; x < side_ - 1; ++x, hwc += 3)
      std::memcpy(hwc, row + 4 * x, 4);  // the next one corrects X
    std::memcpy(hwc, row + 4 * (side_ - 1), 3);
    hwc += 3;
  }
}

void Resizer::to_float(float* chw) {
  const size_t plane = static_cast<size_t>(side_) * side_;
  for (int y = 0; y < side_; ++y) {
    float* out = chw + static_cast<size_t>(y) * side_;
    kernels_->normalise_row(output_row(y), out, out + plane, out + 2 * plane, side_);
  }
}

}  // namespace bench
