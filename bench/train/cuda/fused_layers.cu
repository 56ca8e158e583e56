// Chooses grid and block sizes from the tensor's shape alone, so that sums have the same order on all GPUs.
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>

#include "bench/train/cuda/check_launch.h"
#include "bench/train/cuda/fused_layers.h"
#include "bench/train/cuda/fused_layers_kernels.cuh"

namespace bench::fused {
namespace {

// Several blocks for each of the 132 multiprocessors of the largest GPUs. Fixed, so that the order of sums
// and with it the results are the same on all GPUs.
constexpr int64_t kBlocks = 1056, kSummingBlocks = 528;

struct Launch {
  dim3 grid, block;
};

// Neighbouring threads take neighbouring groups of channels.
Launch launch_for(const Size& size, int64_t blocks) {
  const unsigned groups = unsigned(size.channels / kGroup), lanes = std::min(groups, 32u);
  const unsigned rows = unsigned(kThreads) / lanes, columns = (groups + lanes - 1) / lanes;
  const int64_t needed = (size.rows + rows - 1) / rows, most = std::max<int64_t>(1, blocks / columns);
  return {dim3(columns, unsigned(std::min(needed, most))), dim3(lanes, rows)};
}

constexpr unsigned kLanes = 8;
Launch launch_to_finish(int channels) {
  return {dim3((unsigned(channels) + kLanes - 1) / kLanes), dim3(kLanes, kThreads / kLanes)};
}

}  // namespace

int64_t statistics_workspace(Size size) {
  return 2 * int64_t(launch_for(size, kSummingBlocks).grid.y) * size.channels;
}

template <class T>
void statistics(const T* x, float* mean, float* inverse_deviation, float epsilon, float* workspace, Size size,
                CUstream_st* stream) {
  const Launch sums = launch_for(size, kSummingBlocks), finish = launch_to_finish(size.channels);
  sum_values<<<sums.grid, sums.block, 0, stream>>>(x, workspace, size.rows, size.channels);
  check_launch("sum_values");
  finish_statistics<<<finish.grid, finish.block, 0, stream>>>(
      x, workspace, int(sums.grid.y), mean, inverse_deviation, epsilon, size.rows, size.channels);
  check_launch("finish_statistics");
}

template <class T>
void forward(const T* x, const T* addend, T* y, uint8_t* positive, const Channels& channel,
             const RunningStatistics& running, Size size, CUstream_st* stream) {
  const Launch l = launch_for(size, kBlocks);
  const auto kernel = addend ? normalise_and_clip<T, true> : normalise_and_clip<T, false>;
  kernel<<<l.grid, l.block, 0, stream>>>(x, addend, y, positive, channel, running, size.rows, size.channels);
  check_launch("normalise_and_clip");
}

int64_t backward_workspace(Size size) {
  return (2 * int64_t(launch_for(size, kSummingBlocks).grid.y) + 3) * size.channels;
}

template <class T>
void backward(const T* dy, const T* x, const uint8_t* positive, const Channels& channel, T* dx, T* daddend,
              float* dscale, float* dshift, float* workspace, Size size, CUstream_st* stream) {
  const Slopes slopes{workspace, workspace + size.channels, workspace + 2 * size.channels};
  float* const partial = workspace + 3 * size.channels;
  const Launch sums = launch_for(size, kSummingBlocks), elements = launch_for(size, kBlocks);
  const auto sum = daddend ? sum_gradients<T, true> : sum_gradients<T, false>;
  sum<<<sums.grid, sums.block, 0, stream>>>(dy, x, positive, channel.mean, daddend, partial, size.rows,
                                            size.channels);
  check_launch("sum_gradients");
  const Launch finish = launch_to_finish(size.channels);
  finish_sums<<<finish.grid, finish.block, 0, stream>>>(partial, int(sums.grid.y), channel, dscale, dshift,
                                                        slopes, size.rows, size.channels);
  check_launch("finish_sums");
  const auto gradient = daddend ? gradient_of_input<T, true> : gradient_of_input<T, false>;
  gradient<<<elements.grid, elements.block, 0, stream>>>(daddend ? daddend : dy, x, positive, channel.mean,
                                                         slopes, dx, size.rows, size.channels);
  check_launch("gradient_of_input");
}

template <class T>
void pool_forward(const T* x, T* y, uint8_t* maximum, const PoolShape& shape, int channels,
                  CUstream_st* stream) {
  const Launch l =
      launch_for({int64_t(shape.images) * shape.out_height * shape.out_width, channels}, 4 * kBlocks);
  pool<<<l.grid, l.block, 0, stream>>>(x, y, maximum, shape, channels);
  check_launch("pool");
}

template <class T>
void pool_backward(const T* dy, const uint8_t* maximum, T* dx, const PoolShape& shape, int channels,
                   CUstream_st* stream) {
  const Launch l = launch_for({int64_t(shape.images) * shape.height * shape.width, channels}, 4 * kBlocks);
  pool_gradient<<<l.grid, l.block, 0, stream>>>(dy, maximum, dx, shape, channels);
  check_launch("pool_gradient");
}

#define FUSED_LAYERS_FOR(T)                                                                                \
  template void statistics(const T*, float*, float*, float, float*, Size, CUstream_st*);                   \
  template void forward(const T*, const T*, T*, uint8_t*, const Channels&, const RunningStatistics&, Size, \
                        CUstream_st*);                                                                     \
  template void backward(const T*, const T*, const uint8_t*, const Channels&, T*, T*, float*, float*,      \
                         float*, Size, CUstream_st*);                                                      \
  template void pool_forward(const T*, T*, uint8_t*, const PoolShape&, int, CUstream_st*);                 \
  template void pool_backward(const T*, const uint8_t*, T*, const PoolShape&, int, CUstream_st*)

FUSED_LAYERS_FOR(float);
FUSED_LAYERS_FOR(c10::Half);
FUSED_LAYERS_FOR(c10::BFloat16);

}  // namespace bench::fused
