// Kernels of the fused layers (fused_layers.h), for activations in NHWC order: `rows` positions (images x
// height x width) of `channels` values, a multiple of kGroup. A thread handles kGroup neighbouring channels,
// in 16-bit types one access of 16 bytes, and keeps its channels' constants in registers while it goes
// through rows. Arithmetic is in float32. No LibTorch and no launches here:
// tests/train/fused_kernels_test.cpp also runs these kernels on a CPU.
//
// Threads: x counts groups of channels, y rows. Pointers to activations are aligned to 16 bytes.
#pragma once
#include <cstdint>

#include "bench/train/cuda/fused_layers.h"

namespace bench::fused {

constexpr int kThreads = 256;

template <class T>
struct alignas(16) Group {
  T values[kGroup];
};

// A thread's place: its group of channels, and the rows first, first + step, ...
struct Place {
  int group, groups;
  int64_t row, step;
  __device__ explicit Place(int channels)
      : group(int(blockIdx.x * blockDim.x + threadIdx.x)),
        groups(channels / kGroup),
        row(int64_t(blockIdx.y) * blockDim.y + threadIdx.y),
        step(int64_t(gridDim.y) * blockDim.y) {}
  __device__ bool outside() const { return group >= groups; }
  __device__ int channel(int i) const { return group * kGroup + i; }
};

template <class T>
__device__ inline const Group<T>* groups_of(const T* values) {
  return reinterpret_cast<const Group<T>*>(values);
}
template <class T>
__device__ inline Group<T>* groups_of(T* values) {
  return reinterpret_cast<Group<T>*>(values);
}

constexpr int kSums = 2 * kGroup;  // two for each of a thread's channels

// Adds up two sums per channel over the block's threads; partial: gridDim.y x 2 x channels.
__device__ inline void store_sums(const float (&sums)[kSums], const Place& place, float* __restrict__ partial,
                                  int channels) {
  __shared__ float shared[kThreads * kSums];
  const unsigned lanes = blockDim.x;
#pragma unroll
  for (int i = 0; i < kSums; ++i) shared[(threadIdx.y * kSums + i) * lanes + threadIdx.x] = sums[i];
  __syncthreads();
  for (unsigned item = threadIdx.y * lanes + threadIdx.x; item < kSums * lanes; item += blockDim.y * lanes) {
    const unsigned sum = item / lanes, group = blockIdx.x * lanes + item % lanes;
    if (group >= unsigned(place.groups)) continue;
    float total = 0;
    for (unsigned y = 0; y < blockDim.y; ++y) total += shared[y * kSums * lanes + item];
    partial[(int64_t(blockIdx.y) * 2 + sum / kGroup) * channels + group * kGroup + sum % kGroup] = total;
  }
}

// Adds up the blocks' sums of channel blockIdx.x * blockDim.x + threadIdx.x. Threads: x counts channels, y
// parts; at most kThreads a block. In a fixed order, so that runs are equal bit for bit. False in threads
// that have no result.
__device__ inline bool add_parts(const float* __restrict__ partial, int parts, int channels, float& first,
                                 float& second) {
  __shared__ float shared[2 * kThreads];
  const int c = int(blockIdx.x * blockDim.x + threadIdx.x);
  first = second = 0;
  if (c < channels)
    for (int part = int(threadIdx.y); part < parts; part += int(blockDim.y)) {
      first += partial[int64_t(part) * 2 * channels + c];
      second += partial[(int64_t(part) * 2 + 1) * channels + c];
    }
  const unsigned mine = threadIdx.y * blockDim.x + threadIdx.x;
  shared[mine] = first;
  shared[kThreads + mine] = second;
  __syncthreads();
  if (threadIdx.y != 0 || c >= channels) return false;
  for (unsigned y = 1; y < blockDim.y; ++y) {
    first += shared[y * blockDim.x + threadIdx.x];
    second += shared[kThreads + y * blockDim.x + threadIdx.x];
  }
  return true;
}

// Per channel the sums of x - pivot and of its square over this block's rows. The pivot is the channel's
// first value: without one, the variance of values far from 0 would be lost in rounding.
template <class T>
__global__ void sum_values(const T* __restrict__ x, float* __restrict__ partial, int64_t rows, int channels) {
  const Place place(channels);
  float sums[kSums] = {}, pivots[kGroup];
  if (!place.outside()) {
#pragma unroll
    for (int i = 0; i < kGroup; ++i) pivots[i] = float(x[place.channel(i)]);
#pragma unroll 4
    for (int64_t row = place.row; row < rows; row += place.step) {
      const Group<T> in = groups_of(x)[row * place.groups + place.group];
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const float value = float(in.values[i]) - pivots[i];
        sums[i] += value;
        sums[kGroup + i] = fmaf(value, value, sums[kGroup + i]);
      }
    }
  }
  store_sums(sums, place, partial, channels);
}

// The batch's mean and 1 / sqrt(variance + epsilon), from `parts` sums of sum_values(). Threads as in
// add_parts().
template <class T>
__global__ void finish_statistics(const T* __restrict__ x, const float* __restrict__ partial, int parts,
                                  float* __restrict__ mean, float* __restrict__ inverse_deviation,
                                  float epsilon, int64_t rows, int channels) {
  float sum, squares;
  if (!add_parts(partial, parts, channels, sum, squares)) return;
  const int c = int(blockIdx.x * blockDim.x + threadIdx.x);
  const float offset = sum / float(rows), variance = squares / float(rows) - offset * offset;
  mean[c] = float(x[c]) + offset;
  inverse_deviation[c] = 1 / sqrtf(fmaxf(variance, 0.0f) + epsilon);
}

// y = relu(batch norm of x, + addend): bit i of `positive` (a byte per group) tells whether value i passed
// the ReLU. NaN passes, as in PyTorch. Also moves the running statistics.
template <class T, bool kAdd>
__global__ void normalise_and_clip(const T* __restrict__ x, const T* __restrict__ addend, T* __restrict__ y,
                                   uint8_t* __restrict__ positive, Channels channel,
                                   RunningStatistics running, int64_t rows, int channels) {
  const Place place(channels);
  if (place.outside()) return;
  float mean[kGroup], factor[kGroup], shift[kGroup];
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const int c = place.channel(i);
    const float inverse = channel.inverse_deviation[c];
    mean[i] = channel.mean[c];
    factor[i] = inverse * channel.scale[c];
    shift[i] = channel.shift[c];
    if (place.row == 0) {
      const float biased = fmaxf(1 / (inverse * inverse) - running.epsilon, 0.0f),
                  variance = rows > 1 ? biased * (float(rows) / float(rows - 1)) : biased;
      running.mean[c] += running.momentum * (mean[i] - running.mean[c]);
      running.variance[c] += running.momentum * (variance - running.variance[c]);
    }
  }
#pragma unroll 4
  for (int64_t row = place.row; row < rows; row += place.step) {
    const int64_t at = row * place.groups + place.group;
    const Group<T> in = groups_of(x)[at];
    Group<T> added, out;
    if (kAdd) added = groups_of(addend)[at];
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      float value = fmaf(float(in.values[i]) - mean[i], factor[i], shift[i]);
      if (kAdd) value += float(added.values[i]);
      const bool clipped = value <= 0;
      bits |= unsigned(!clipped) << i;
      out.values[i] = T(clipped ? 0.0f : value);
    }
    groups_of(y)[at] = out;
    positive[at] = uint8_t(bits);
  }
}

// Per channel the sums of g and of g (x - mean) over this block's rows, where g is dy, or 0 where the ReLU
// clipped. partial: gridDim.y x 2 x channels. With kAdd, g is also stored, as the gradient of the addend.
template <class T, bool kAdd>
__global__ void sum_gradients(const T* __restrict__ dy, const T* __restrict__ x,
                              const uint8_t* __restrict__ positive, const float* __restrict__ mean,
                              T* __restrict__ daddend, float* __restrict__ partial, int64_t rows,
                              int channels) {
  const Place place(channels);
  float sums[kSums] = {}, means[kGroup];
  if (!place.outside()) {
#pragma unroll
    for (int i = 0; i < kGroup; ++i) means[i] = mean[place.channel(i)];
#pragma unroll 2
    for (int64_t row = place.row; row < rows; row += place.step) {
      const int64_t at = row * place.groups + place.group;
      const Group<T> gradient = groups_of(dy)[at], in = groups_of(x)[at];
      const unsigned bits = positive[at];
      Group<T> passed;
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const float g = bits >> i & 1 ? float(gradient.values[i]) : 0.0f;
        sums[i] += g;
        sums[kGroup + i] = fmaf(g, float(in.values[i]) - means[i], sums[kGroup + i]);
        if (kAdd) passed.values[i] = T(g);
      }
      if (kAdd) groups_of(daddend)[at] = passed;
    }
  }
  store_sums(sums, place, partial, channels);
}

// What the gradient of x depends on: dx = (g * a) + (x - mean) * b + c, per channel.
struct Slopes {
  float *a, *b, *c;
};

// The slopes, from `parts` sums of sum_gradients(). Threads as in add_parts().
__global__ void inline finish_sums(const float* __restrict__ partial, int parts, Channels channel,
                                   float* __restrict__ dscale, float* __restrict__ dshift, Slopes slopes,
                                   int64_t rows, int channels) {
  float sum, sum_of_products;
  if (!add_parts(partial, parts, channels, sum, sum_of_products)) return;
  const int c = int(blockIdx.x * blockDim.x + threadIdx.x);
  const float inverse = channel.inverse_deviation[c], a = channel.scale[c] * inverse, count = float(rows);
  dshift[c] = sum;
  dscale[c] = sum_of_products * inverse;
  slopes.a[c] = a;
  slopes.b[c] = -a * inverse * inverse * sum_of_products / count;
  slopes.c[c] = -a * sum / count;
}

// dx, from dy and `positive`, or (kClipped) from the gradient that sum_gradients() stored.
template <class T, bool kClipped>
__global__ void gradient_of_input(const T* __restrict__ dy, const T* __restrict__ x,
                                  const uint8_t* __restrict__ positive, const float* __restrict__ mean,
                                  Slopes slopes, T* __restrict__ dx, int64_t rows, int channels) {
  const Place place(channels);
  if (place.outside()) return;
  float means[kGroup], a[kGroup], b[kGroup], constant[kGroup];
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const int c = place.channel(i);
    means[i] = mean[c];
    a[i] = slopes.a[c];
    b[i] = slopes.b[c];
    constant[i] = slopes.c[c];
  }
#pragma unroll 2
  for (int64_t row = place.row; row < rows; row += place.step) {
    const int64_t at = row * place.groups + place.group;
    const Group<T> gradient = groups_of(dy)[at], in = groups_of(x)[at];
    const unsigned bits = kClipped ? 0xff : positive[at];
    Group<T> out;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const float g = bits >> i & 1 ? float(gradient.values[i]) : 0.0f;
      out.values[i] = T(fmaf(g, a[i], fmaf(float(in.values[i]) - means[i], b[i], constant[i])));
    }
    groups_of(dx)[at] = out;
  }
}

// Max-pool: y, and for each value the place of its maximum in the window, 0 to 8 by rows. Of equal values the
// first counts, and NaN is larger than all, as in PyTorch.
template <class T>
__global__ void pool(const T* __restrict__ x, T* __restrict__ y, uint8_t* __restrict__ maximum,
                     PoolShape shape, int channels) {
  const Place place(channels);
  if (place.outside()) return;
  const int64_t rows = int64_t(shape.images) * shape.out_height * shape.out_width;
  for (int64_t row = place.row; row < rows; row += place.step) {
    const int left = int(row % shape.out_width) * 2 - 1,
              top = int(row / shape.out_width % shape.out_height) * 2 - 1;
    const int64_t image = row / shape.out_width / shape.out_height * shape.height * shape.width;
    Group<T> best = {};
    unsigned where[kGroup] = {};
    bool any = false;
#pragma unroll
    for (int window = 0; window < 9; ++window) {
      const int h = top + window / 3, w = left + window % 3;
      if (h < 0 || h >= shape.height || w < 0 || w >= shape.width) continue;
      const Group<T> in = groups_of(x)[(image + int64_t(h) * shape.width + w) * place.groups + place.group];
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const float value = float(in.values[i]);
        if (any && !(value > float(best.values[i])) && value == value) continue;
        best.values[i] = in.values[i];
        where[i] = unsigned(window);
      }
      any = true;
    }
    groups_of(y)[row * place.groups + place.group] = best;
    uint2 packed = {0, 0};
#pragma unroll
    for (int i = 0; i < kGroup; ++i) (i < 4 ? packed.x : packed.y) |= where[i] << 8 * (i % 4);
    reinterpret_cast<uint2*>(maximum)[row * place.groups + place.group] = packed;
  }
}

// dx: the sum of dy of the windows in which the value was the maximum (up to four), without atomics.
template <class T>
__global__ void pool_gradient(const T* __restrict__ dy, const uint8_t* __restrict__ maximum,
                              T* __restrict__ dx, PoolShape shape, int channels) {
  const Place place(channels);
  if (place.outside()) return;
  const int64_t rows = int64_t(shape.images) * shape.height * shape.width;
  for (int64_t row = place.row; row < rows; row += place.step) {
    const int w = int(row % shape.width), h = int(row / shape.width % shape.height);
    const int64_t image = row / shape.width / shape.height * shape.out_height * shape.out_width;
    float sums[kGroup] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // An even position lies in one window per direction, an odd one in two.
      const int out_h = h / 2 + i / 2, out_w = w / 2 + i % 2;
      if (out_h > (h + 1) / 2 || out_w > (w + 1) / 2 || out_h >= shape.out_height || out_w >= shape.out_width)
        continue;
      const int window = (h - out_h * 2 + 1) * 3 + (w - out_w * 2 + 1);
      const int64_t at = (image + int64_t(out_h) * shape.out_width + out_w) * place.groups + place.group;
      const Group<T> gradient = groups_of(dy)[at];
      const uint2 packed = reinterpret_cast<const uint2*>(maximum)[at];
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        const unsigned where = (k < 4 ? packed.x : packed.y) >> 8 * (k % 4) & 0xff;
        sums[k] += where == unsigned(window) ? float(gradient.values[k]) : 0.0f;
      }
    }
    Group<T> out;
#pragma unroll
    for (int k = 0; k < kGroup; ++k) out.values[k] = T(sums[k]);
    groups_of(dx)[row * place.groups + place.group] = out;
  }
}

}  // namespace bench::fused
