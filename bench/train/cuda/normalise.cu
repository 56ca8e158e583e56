// Memory-bound: reads one byte and writes two or four per value. So accesses are as wide as possible and
// coalesced.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "bench/train/cuda/affine.cuh"
#include "bench/train/cuda/check_launch.h"
#include "bench/train/cuda/normalise.h"

namespace bench {
namespace {

constexpr int kThreads = 256;

template <class Out>
__device__ Out converted(float value) {
  return Out(value);
}
template <>
__device__ __half converted<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __nv_bfloat16 converted<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};

// One access of 16 bytes where the pack has so many: left to itself, the compiler stores the planes' values
// one by one.
template <class T, int kCount>
__device__ void store(T* to, const Pack<T, kCount>& values) {
  if constexpr (sizeof(values) == sizeof(uint4)) {
    uint4 bits;
    memcpy(&bits, values.values, sizeof(bits));
    __stwb(reinterpret_cast<uint4*>(to), bits);
  } else {
    *reinterpret_cast<Pack<T, kCount>*>(to) = values;
  }
}

__device__ float normalised(uint8_t pixel, const Affine& channel) {
  return fmaf(float(pixel), channel.scale, channel.shift);
}

// Each thread converts kCount consecutive values, whose channel is index % 3. count: number of values in
// total.
template <class Out, int kCount>
__global__ void same_order(const uint8_t* __restrict__ pixels, Out* __restrict__ out, int64_t count) {
  const int64_t first = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * kCount;
  if (first >= count) return;
  const int channel = int(first % 3);
  // From the first value's channel on, so that the loop's indices are known when it is unrolled.
  const Affine next[3] = {affine_of(channel), affine_of(channel == 2 ? 0 : channel + 1),
                          affine_of(channel == 0 ? 2 : channel - 1)};
  if (first + kCount > count) {
    for (int64_t i = first; i < count; ++i)
      out[i] = converted<Out>(normalised(pixels[i], affine_of(int(i % 3))));
    return;
  }
  const auto in = *reinterpret_cast<const Pack<uint8_t, kCount>*>(pixels + first);
  Pack<Out, kCount> result;
#pragma unroll
  for (int i = 0; i < kCount; ++i) result.values[i] = converted<Out>(normalised(in.values[i], next[i % 3]));
  store(out + first, result);
}

// Each thread converts kCount consecutive pixels and writes kCount values to each of the image's three
// planes. kCount must divide pixels_per_image.
template <class Out, int kCount>
__global__ void planes(const uint8_t* __restrict__ pixels, Out* __restrict__ out, int64_t pixels_per_image) {
  const int64_t pixel = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * kCount;
  if (pixel >= pixels_per_image) return;
  const int64_t image = blockIdx.y;
  const uint8_t* from = pixels + (image * pixels_per_image + pixel) * 3;
  alignas(kCount) uint8_t in[3 * kCount];
#pragma unroll
  for (int i = 0; i < 3; ++i)
    *reinterpret_cast<Pack<uint8_t, kCount>*>(in + i * kCount) =
        *reinterpret_cast<const Pack<uint8_t, kCount>*>(from + i * kCount);
#pragma unroll
  for (int channel = 0; channel < 3; ++channel) {
    Pack<Out, kCount> plane;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      plane.values[i] = converted<Out>(normalised(in[3 * i + channel], affine_of(channel)));
    store(out + (image * 3 + channel) * pixels_per_image + pixel, plane);
  }
}

unsigned blocks_for(int64_t count, int per_thread) {
  const int64_t per_block = int64_t(kThreads) * per_thread;
  return unsigned((count + per_block - 1) / per_block);
}

template <class Out, int kCount>
void launch_planes(const uint8_t* pixels, Out* out, int64_t images, int64_t pixels_per_image,
                   cudaStream_t stream) {
  constexpr int64_t kMostImages = 65535;  // limit of gridDim.y
  for (int64_t first = 0; first < images; first += kMostImages) {
    const int64_t count = images - first < kMostImages ? images - first : kMostImages;
    planes<Out, kCount><<<dim3(blocks_for(pixels_per_image, kCount), unsigned(count)), kThreads, 0, stream>>>(
        pixels + first * pixels_per_image * 3, out + first * pixels_per_image * 3, pixels_per_image);
  }
}

template <class Out>
void launch(const uint8_t* pixels, Out* out, bool channels_last, int64_t images, int64_t side,
            cudaStream_t stream) {
  constexpr int kWide = 16 / sizeof(Out);
  const int64_t pixels_per_image = side * side, count = images * pixels_per_image * 3;
  if (count == 0) return;
  if (channels_last)
    same_order<Out, kWide><<<blocks_for(count, kWide), kThreads, 0, stream>>>(pixels, out, count);
  else if (pixels_per_image % kWide == 0)
    launch_planes<Out, kWide>(pixels, out, images, pixels_per_image, stream);
  else
    launch_planes<Out, 1>(pixels, out, images, pixels_per_image, stream);
}

}  // namespace

void normalise(const uint8_t* pixels, void* out, ImageType type, bool channels_last, int64_t images,
               int64_t side, cudaStream_t stream) {
  switch (type) {
    case ImageType::float32:
      launch(pixels, static_cast<float*>(out), channels_last, images, side, stream);
      break;
    case ImageType::float16:
      launch(pixels, static_cast<__half*>(out), channels_last, images, side, stream);
      break;
    case ImageType::bfloat16:
      launch(pixels, static_cast<__nv_bfloat16*>(out), channels_last, images, side, stream);
      break;
  }
  check_launch("normalise");
}

}  // namespace bench
