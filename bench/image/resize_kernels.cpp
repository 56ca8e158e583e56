// Bilinear weights are positive and sum to 1, so that no result needs clipping. Highway compiles this file
// once per instruction set and selects one at run time.
#include "bench/image/resize_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/image/resize_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // includes this file once per target
#include <hwy/highway.h>

#include "bench/image/batch_format.h"

HWY_BEFORE_NAMESPACE();
namespace bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

#if HWY_TARGET == HWY_SCALAR

ResizeKernels vector_kernels() { return plain_kernels(); }

#else

// Weights are broadcast to the channels here, not stored four times: at 14 KB and more, the decoder would
// evict them from the L1 cache between rows.
#if HWY_MAX_BYTES >= 32

template <int PAIRS>  // 0: any
HWY_INLINE void narrow_row_pairs(const uint8_t* HWY_RESTRICT in, uint8_t* HWY_RESTRICT out, int step,
                                 const ResizeTaps& taps, int side) {
  const hn::FixedTag<int32_t, 8> two_pixels;
  const hn::FixedTag<int32_t, 4> one_pixel;
  const hn::Rebind<uint8_t, decltype(two_pixels)> eight_bytes;
  const hn::Rebind<uint8_t, decltype(one_pixel)> four_bytes;
  const int pairs = PAIRS ? PAIRS : taps.stride / 2;
  const int32_t *first = taps.first.data(), *weight = taps.weight.data();
  constexpr int32_t kSpread[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  const auto spread = hn::SetTableIndices(two_pixels, kSpread);
  const auto half = hn::Set(one_pixel, kHalf);
  for (int x = 0; x < side; ++x, out += step) {
    const uint8_t* pixel = in + 4 * first[x];
    auto sum = hn::Zero(two_pixels);
    for (int k = 0; k < pairs; ++k, pixel += 8, weight += 2) {
      const auto two = hn::PromoteTo(two_pixels, hn::LoadU(eight_bytes, pixel));
      const auto weights = hn::TableLookupLanes(hn::LoadDup128(two_pixels, weight), spread);
      sum = hn::Add(hn::Mul(two, weights), sum);
    }
    const auto all = hn::Add(hn::LowerHalf(sum), hn::UpperHalf(one_pixel, sum));
    const auto rounded = hn::ShiftRight<kWeightBits>(hn::Add(all, half));
    hn::StoreU(hn::DemoteTo(four_bytes, rounded), four_bytes, out);
  }
}

#else

template <int PAIRS>
HWY_INLINE void narrow_row_pairs(const uint8_t* HWY_RESTRICT in, uint8_t* HWY_RESTRICT out, int step,
                                 const ResizeTaps& taps, int side) {
  const hn::FixedTag<int32_t, 4> one_pixel;
  const hn::Rebind<uint8_t, decltype(one_pixel)> four_bytes;
  const int32_t* weight = taps.weight.data();
  for (int x = 0; x < side; ++x, out += step, weight += taps.stride) {
    const uint8_t* pixel = in + 4 * taps.first[x];
    auto sum = hn::Set(one_pixel, kHalf);
    for (int k = 0; k < taps.width; ++k, pixel += 4) {
      const auto one = hn::PromoteTo(one_pixel, hn::LoadU(four_bytes, pixel));
      sum = hn::Add(hn::Mul(one, hn::Set(one_pixel, weight[k])), sum);
    }
    hn::StoreU(hn::DemoteTo(four_bytes, hn::ShiftRight<kWeightBits>(sum)), four_bytes, out);
  }
}

#endif

void narrow_row(const uint8_t* in, uint8_t* out, int step, const ResizeTaps& taps, int side) {
  switch (taps.stride / 2) {
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

void sum_rows(const uint8_t* HWY_RESTRICT first, int stride, const int32_t* HWY_RESTRICT weight, int width,
              uint8_t* HWY_RESTRICT out, int bytes) {
  const hn::CappedTag<int32_t, kBlock / 4> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const int lanes = int(hn::Lanes(d));
  const auto half = hn::Set(d, kHalf);
  const auto store = [&](auto sum, uint8_t* to) {
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kWeightBits>(sum)), d8, to);
  };
  for (int x = 0; x < bytes; x += 4 * lanes) {
    auto a = half, b = half, c = half, e = half;
    const uint8_t* row = first + x;
    for (int k = 0; k < width; ++k, row += stride) {
      const auto w = hn::Set(d, weight[k]);
      a = hn::Add(hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, row)), w), a);
      b = hn::Add(hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, row + lanes)), w), b);
      c = hn::Add(hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, row + 2 * lanes)), w), c);
      e = hn::Add(hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, row + 3 * lanes)), w), e);
    }
    store(a, out + x);
    store(b, out + x + lanes);
    store(c, out + x + 2 * lanes);
    store(e, out + x + 3 * lanes);
  }
}

template <int CHANNEL, class D>
HWY_INLINE auto normalised(D floats, hn::Vec<hn::RebindToSigned<D> > pixels) {
  const hn::RebindToSigned<D> integers;
  const auto value = hn::And(hn::ShiftRight<8 * CHANNEL>(pixels), hn::Set(integers, 255));
  return hn::MulAdd(hn::ConvertTo(floats, value), hn::Set(floats, normalise_scale(CHANNEL)),
                    hn::Set(floats, normalise_shift(CHANNEL)));
}

// Calls both(x) to process `lanes` pixels from x; if `lanes` doesn't divide `pixels`, the last call overlaps
// the one before. Rows shorter than `lanes` are processed by rest(0).
template <class Both, class Rest>
HWY_INLINE void along_row(int pixels, int lanes, const Both& both, const Rest& rest) {
  if (pixels < lanes) return rest(0);
  for (int x = 0; x + lanes <= pixels; x += lanes) both(x);
  if (pixels % lanes) both(pixels - lanes);
}

template <bool PAST_CACHES>  // non-temporal stores; needs aligned planes
HWY_INLINE void normalise_planes(const uint8_t* HWY_RESTRICT rgbx, float* HWY_RESTRICT red,
                                 float* HWY_RESTRICT green, float* HWY_RESTRICT blue, int side) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Repartition<uint8_t, decltype(d)> bytes;
  const auto store = [&](auto values, float* to) {
    if constexpr (PAST_CACHES)
      hn::Stream(values, d, to);
    else
      hn::StoreU(values, d, to);
  };
  along_row(
      side, int(hn::Lanes(d)),
      [&](int x) {
        const auto pixels = hn::BitCast(integers, hn::LoadU(bytes, rgbx + 4 * x));
        store(normalised<0>(d, pixels), red + x);
        store(normalised<1>(d, pixels), green + x);
        store(normalised<2>(d, pixels), blue + x);
      },
      [&](int) { plain_kernels().normalise_row(rgbx, red, green, blue, side); });
}

// The planes are not read soon: non-temporal stores keep the next image's bytes in the caches.
void normalise_row(const uint8_t* HWY_RESTRICT rgbx, float* HWY_RESTRICT red, float* HWY_RESTRICT green,
                   float* HWY_RESTRICT blue, int side) {
  const size_t vector = hn::Lanes(hn::ScalableTag<float>()) * sizeof(float);
  const auto aligned = [&](const float* plane) { return reinterpret_cast<uintptr_t>(plane) % vector == 0; };
  if (aligned(red) && aligned(green) && aligned(blue) && side * sizeof(float) % vector == 0)
    normalise_planes<true>(rgbx, red, green, blue, side);
  else
    normalise_planes<false>(rgbx, red, green, blue, side);
}

void normalise_pixels(const uint8_t* HWY_RESTRICT rgbx, float* HWY_RESTRICT rgb, int pixels) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Repartition<uint8_t, decltype(d)> bytes;
  along_row(
      pixels, int(hn::Lanes(d)),
      [&](int x) {
        const auto four = hn::BitCast(integers, hn::LoadU(bytes, rgbx + 4 * x));
        hn::StoreInterleaved3(normalised<0>(d, four), normalised<1>(d, four), normalised<2>(d, four), d,
                              rgb + 3 * x);
      },
      [&](int) { plain_kernels().normalise_pixels(rgbx, rgb, pixels); });
}

void narrow_pixels(const uint8_t* HWY_RESTRICT in, uint8_t* HWY_RESTRICT out, int pixels) {
  const hn::ScalableTag<uint8_t> d;
  along_row(
      pixels, int(hn::Lanes(d)),
      [&](int x) {
        hn::Vec<decltype(d)> red, green, blue, unused;
        hn::LoadInterleaved4(d, in + 4 * x, red, green, blue, unused);
        hn::StoreInterleaved3(red, green, blue, d, out + 3 * x);
      },
      [&](int) { plain_kernels().narrow_pixels(in, out, pixels); });
}

void widen_row(const uint8_t* HWY_RESTRICT in, uint8_t* HWY_RESTRICT out, int pixels) {
  const hn::ScalableTag<uint8_t> d;
  along_row(
      pixels, int(hn::Lanes(d)),
      [&](int x) {
        hn::Vec<decltype(d)> red, green, blue;
        hn::LoadInterleaved3(d, in + 3 * x, red, green, blue);
        hn::StoreInterleaved4(red, green, blue, blue, d, out + 4 * x);
      },
      [&](int) { plain_kernels().widen_row(in, out, pixels); });
}

void finish() { hwy::FlushStream(); }

ResizeKernels vector_kernels() {
  return {narrow_row, sum_rows, normalise_row, normalise_pixels, narrow_pixels, widen_row, finish};
}

#endif

}  // namespace bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {

HWY_EXPORT(vector_kernels);

ResizeKernels resize_kernels(bool plain) {
  return plain ? plain_kernels() : HWY_DYNAMIC_DISPATCH(vector_kernels)();
}

}  // namespace bench
#endif
