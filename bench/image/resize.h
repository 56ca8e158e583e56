// Antialiased bilinear resize of RGBX rows with Pillow's fixed-point arithmetic (src/libImaging/Resample.c);
// 8-bit between the passes.
#pragma once
#include <cstdint>
#include <vector>

#include "bench/image/resize_kernels.h"

namespace bench {

// One per thread; reuses its buffers between images. Call begin(), then add_row() for each row from top to
// bottom, then one of the to_...() functions, which write to memory of the caller.
class Resizer {
 public:
  static constexpr int kRowPadding = 4;  // readable bytes that add_row() needs after a row's last pixel

  explicit Resizer(bool plain = false)  // plain: no vector instructions, for tests
      : kernels_(resize_kernels(plain)) {}
  void begin(int input_width, int input_height, int width, int height, bool flip);
  void add_row(const uint8_t* rgbx);
  void add_rgb_row(const uint8_t* rgb);  // pixels of three bytes; needs no padding
  void to_uint8(uint8_t* hwc);           // height x width x 3
  void to_float(float* chw);             // 3 x height x width, normalised (batch_format.h)
  void to_float_last(float* hwc);        // the same values as height x width x 3

 private:
  void across(const uint8_t* in, uint8_t* out);
  const uint8_t* output_row(int y);

  ResizeKernels kernels_;
  int width_ = 0, height_ = 0, rows_ = 0, input_width_ = 0, stride_ = 0;
  bool flip_ = false, down_first_ = false;
  ResizeTaps across_, down_;
  std::vector<uint8_t> rows_in_;  // after the horizontal pass; unchanged input if down_first_
  std::vector<uint8_t> between_, row_, widened_;
};

}  // namespace bench
