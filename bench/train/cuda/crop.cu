// Launches the kernel for the batch's pixel format, split where a batch exceeds the grid's limit.
#include "bench/train/cuda/check_launch.h"
#include "bench/train/cuda/crop.h"
#include "bench/train/cuda/crop_kernels.cuh"

namespace bench {
namespace {

template <BatchFormat format>
void launch(const DecodedImage* images, int64_t count, int side, CUstream_st* stream) {
  constexpr unsigned kThreads = 256;
  const unsigned blocks = (unsigned(side) * unsigned(side) + kThreads - 1) / kThreads;
  constexpr int64_t kMostImages = 65535;  // limit of gridDim.y
  for (int64_t first = 0; first < count; first += kMostImages) {
    const int64_t some = count - first < kMostImages ? count - first : kMostImages;
    crop_and_resize<format><<<dim3(blocks, unsigned(some)), kThreads, 0, stream>>>(images + first, side);
  }
}

}  // namespace

void crop_and_resize(const DecodedImage* images, int64_t count, int side, BatchFormat format,
                     CUstream_st* stream) {
  switch (format) {
    case BatchFormat::float32:
      launch<BatchFormat::float32>(images, count, side, stream);
      break;
    case BatchFormat::channels_last:
      launch<BatchFormat::channels_last>(images, count, side, stream);
      break;
    case BatchFormat::uint8:
      launch<BatchFormat::uint8>(images, count, side, stream);
      break;
  }
  check_launch("crop_and_resize");
}

}  // namespace bench
