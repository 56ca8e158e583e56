// Launches the kernels of the fused layers (fused_layers_kernels.cuh) on a stream. T: float, c10::Half or
// c10::BFloat16. All pointers are to device memory; activations in NHWC order, aligned to 16 bytes, with a
// multiple of kGroup channels. Throws std::runtime_error if a launch fails.
#pragma once
#include <cstdint>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace bench::fused {

constexpr int kGroup = 8;  // neighbouring channels that one thread handles

// Float32, one value per channel.
struct Channels {
  const float *mean, *inverse_deviation, *scale, *shift;
};

struct RunningStatistics {
  float *mean, *variance;
  float momentum, epsilon;
};

// Max-pool with windows of 3 x 3 at distance 2, padding 1. An output has `out_height` x `out_width` positions
// per image, (height + 1) / 2 and (width + 1) / 2.
struct PoolShape {
  int images, height, width, out_height, out_width;
};

// Activations as positions (images x height x width) of channels.
struct Size {
  int64_t rows;
  int channels;
};

// Floats that statistics() needs as `workspace`.
int64_t statistics_workspace(Size size);

// Of the batch, per channel in float32: mean and 1 / sqrt(variance + epsilon), the variance without Bessel's
// correction.
template <class T>
void statistics(const T* x, float* mean, float* inverse_deviation, float epsilon, float* workspace, Size size,
                CUstream_st* stream);

// y = relu(batch norm of x, + addend unless it is null); positive: a bit per value, rows x channels / kGroup
// bytes.
template <class T>
void forward(const T* x, const T* addend, T* y, uint8_t* positive, const Channels& channel,
             const RunningStatistics& running, Size size, CUstream_st* stream);

// Floats that backward() needs as `workspace`.
int64_t backward_workspace(Size size);

// daddend: null where forward() had no addend. dscale, dshift: float32.
template <class T>
void backward(const T* dy, const T* x, const uint8_t* positive, const Channels& channel, T* dx, T* daddend,
              float* dscale, float* dshift, float* workspace, Size size, CUstream_st* stream);

// maximum: a byte per value of y.
template <class T>
void pool_forward(const T* x, T* y, uint8_t* maximum, const PoolShape& shape, int channels,
                  CUstream_st* stream);
template <class T>
void pool_backward(const T* dy, const uint8_t* maximum, T* dx, const PoolShape& shape, int channels,
                   CUstream_st* stream);

}  // namespace bench::fused
