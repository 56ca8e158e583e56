// The inner loops of the resizer: a plain C++ version and vector versions selected at run time.
#pragma once
#include <cstdint>
#include <vector>

namespace bench {

// Taps of one direction: output i is the sum over k < width of weight[i * stride + k] * input[first[i] + k].
struct ResizeTaps {
  int width = 0;
  int stride = 0;  // width rounded up to even with a zero weight: taps are processed in pairs
  std::vector<int32_t> first, weight;
  static constexpr int kPadding = 2;  // readable weights after the last pair
  void compute(int input_size, int output_size);
};

inline constexpr int kWeightBits = 22;  // Pillow's PRECISION_BITS: 32 - 8 pixel bits - 2 bits of headroom
inline constexpr int kBlock = 64;       // sum_rows requires `bytes` to be a multiple of it

struct ResizeKernels {
  // in, rgbx: pixels of R, G, B, unused. step: bytes from one output pixel to the next, negative to flip.
  void (*narrow_row)(const uint8_t* in, uint8_t* out, int step, const ResizeTaps& taps, int side);
  void (*sum_rows)(const uint8_t* first, int stride, const int32_t* weight, int width, uint8_t* out,
                   int bytes);
  void (*normalise_row)(const uint8_t* rgbx, float* red, float* green, float* blue, int side);
  void (*normalise_pixels)(const uint8_t* rgbx, float* rgb, int pixels);
  // R, G, B, unused to R, G, B, and R, G, B to R, G, B, anything. They access no byte outside the two rows.
  void (*narrow_pixels)(const uint8_t* in, uint8_t* out, int pixels);
  void (*widen_row)(const uint8_t* in, uint8_t* out, int pixels);
  void (*finish)();  // call after the last row, before another thread reads the output
};

ResizeKernels plain_kernels();
ResizeKernels resize_kernels(bool plain);

}  // namespace bench
