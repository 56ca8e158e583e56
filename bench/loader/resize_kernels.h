// The loops of the resizer in plain C++ and for AVX2; which one runs is decided at run time.
#pragma once
#include <cstdint>
#include <vector>

namespace bench {

// Taps of one direction: output i is the sum over k < width of weight[i * width + k] * input[first[i] + k].
struct ResizeTaps {
  int width = 0;
  std::vector<int32_t> first, weight;
  std::vector<int32_t> spread;  // for vector registers: weights four times over, an even number per output
  void compute(int input_size, int output_size);
};

inline constexpr int kWeightBits = 22;  // Pillow's PRECISION_BITS: leaves 8 for the pixel and 2 of headroom
inline constexpr int kBlock = 32;       // bytes that sum_rows works on at a time: `bytes` is a multiple of it

// in, rgbx: pixels of R, G, B, unused. step: bytes from one output pixel to the next, negative to flip.
using NarrowRow = void (*)(const uint8_t* in, uint8_t* out, int step, const ResizeTaps& taps, int side);
using SumRows = void (*)(const uint8_t* first, int stride, const int32_t* weight, int width, uint8_t* out,
                         int bytes);
using NormaliseRow = void (*)(const uint8_t* rgbx, float* red, float* green, float* blue, int side);

struct ResizeKernels {
  NarrowRow narrow_row;
  SumRows sum_rows;
  NormaliseRow normalise_row;
};

ResizeKernels resize_kernels(bool plain);

}  // namespace bench
