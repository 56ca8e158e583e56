// Bilinear weights are positive and add up to 1, so that no sum needs clipping.
#include "bench/loader/resize_kernels.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);
constexpr float kMean[3] = {0.485f, 0.456f, 0.406f}, kDeviation[3] = {0.229f, 0.224f, 0.225f};

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
    out[0] = static_cast<uint8_t>(red >> kWeightBits);
    out[1] = static_cast<uint8_t>(green >> kWeightBits);
    out[2] = static_cast<uint8_t>(blue >> kWeightBits);
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
    for (int i = 0; i < kBlock; ++i) out[x + i] = static_cast<uint8_t>(sum[i] >> kWeightBits);
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
    total = _mm_srli_epi32(_mm_add_epi32(total, half), kWeightBits);
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

}  // namespace

ResizeKernels resize_kernels(bool plain) {
#if defined(__x86_64__)
  if (!plain && __builtin_cpu_supports("avx2")) return {narrow_row_avx2, sum_rows_avx2, normalise_row_avx2};
#endif
  return {narrow_row, sum_rows, normalise_row};
}

}  // namespace bench
