// Resizes the boxes of many decoded images at once. No LibTorch and no launches here, as in
// fused_layers_kernels.cuh: tests/train/crop_kernels_test.cpp also runs this on a CPU.
#pragma once
#include "bench/train/cuda/affine.cuh"
#include "bench/train/cuda/crop.h"

namespace bench {

// The pixels of the input that an output pixel is made of, with the weights of an antialiased triangle filter
// (Pillow's bilinear resize; LibTorch's _upsample_bilinear2d_aa).
struct Taps {
  int first, end;
  float centre, inverse_support, total;
  __device__ Taps(int out, int out_size, int in_size) {
    const float scale = float(in_size) / float(out_size), support = scale > 1 ? scale : 1.0f;
    centre = (float(out) + 0.5f) * scale;
    inverse_support = 1 / support;
    first = int(centre - support + 0.5f);
    end = int(centre + support + 0.5f);
    if (first < 0) first = 0;
    if (end > in_size) end = in_size;
    total = 0;
    for (int i = first; i < end; ++i) total += weight(i);
  }
  __device__ float weight(int i) const {
    const float distance = fabsf((float(i) + 0.5f - centre) * inverse_support);
    return distance < 1 ? 1 - distance : 0.0f;
  }
};

// A thread makes the three values of one output pixel. Threads: x counts pixels of the crop, y images.
template <BatchFormat format>
__global__ void crop_and_resize(const DecodedImage* __restrict__ images, int side) {
  const int pixel = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (pixel >= side * side) return;
  const DecodedImage& image = images[blockIdx.y];
  const int row = pixel / side, column = pixel % side;
  const Taps across(image.flip ? side - 1 - column : column, side, image.width),
      down(row, side, image.height);
  float sums[3] = {};
  for (int y = down.first; y < down.end; ++y) {
    const int64_t line = int64_t(image.top + y) * image.pitch + image.left;
    float of_row[3] = {};
    for (int x = across.first; x < across.end; ++x) {
      const float weight = across.weight(x);
#pragma unroll
      for (int channel = 0; channel < 3; ++channel)
        of_row[channel] = fmaf(weight, float(image.planes[channel][line + x]), of_row[channel]);
    }
    const float weight = down.weight(y);
#pragma unroll
    for (int channel = 0; channel < 3; ++channel)
      sums[channel] = fmaf(weight, of_row[channel], sums[channel]);
  }
  const float normalise = 1 / (across.total * down.total);
#pragma unroll
  for (int channel = 0; channel < 3; ++channel) {
    const float value = rintf(sums[channel] * normalise);
    if (format == BatchFormat::uint8) {
      static_cast<uint8_t*>(image.out)[pixel * 3 + channel] = uint8_t(value);
    } else {
      const Affine affine = affine_of(channel);
      const int place =
          format == BatchFormat::channels_last ? pixel * 3 + channel : channel * side * side + pixel;
      static_cast<float*>(image.out)[place] = fmaf(value, affine.scale, affine.shift);
    }
  }
}

}  // namespace bench
