// nvJPEG's objects, errors and limits, for the decoders of single images and of batches.
#pragma once
#include <c10/cuda/CUDAException.h>
#include <nvjpeg.h>

#include <algorithm>
#include <memory>

#include "bench/image/decode.h"

namespace bench {

// The part of an image to decode for a box: with a margin, because chroma interpolation needs neighbours,
// which nvJPEG before 13.3 lacks at the edges of the region of interest. 4 pixels are one chroma sample at
// the coarsest subsampling.
inline CropBox with_margin(const CropBox& box, ImageSize size) {
  constexpr int kMargin = 4;
  const int left = std::max(0, box.left - kMargin), top = std::max(0, box.top - kMargin);
  return {left, top, std::min(size.width, box.left + box.width + kMargin) - left,
          std::min(size.height, box.top + box.height + kMargin) - top};
}

// Ends the row with c10::Error; the loader would treat a std::runtime_error as a bad image.
inline void require(nvjpegStatus_t status) {
  TORCH_CHECK(status != NVJPEG_STATUS_ALLOCATOR_FAILURE,
              "out of memory: nvJPEG's buffers; use fewer loader_threads or decoder=cpu");
  TORCH_CHECK(status == NVJPEG_STATUS_SUCCESS, "nvJPEG failed with status ", int(status),
              " (nvjpegStatus_t in nvjpeg.h); decoder=cpu runs the row without it");
}

// Returns false if nvJPEG refused the image. (GPU failures are reported again at synchronisation.)
inline bool accepted(nvjpegStatus_t status) {
  switch (status) {
    case NVJPEG_STATUS_NOT_INITIALIZED:
    case NVJPEG_STATUS_ALLOCATOR_FAILURE:
    case NVJPEG_STATUS_ARCH_MISMATCH:
      require(status);
      [[fallthrough]];
    default:
      return status == NVJPEG_STATUS_SUCCESS;
  }
}

template <auto destroy>
struct Destroy {
  template <class Object>
  void operator()(Object* object) const {
    destroy(object);
  }
};
template <class Object, auto destroy>
using Owned = std::unique_ptr<Object, Destroy<destroy>>;

using Handle = Owned<nvjpegHandle, nvjpegDestroy>;
using JpegDecoder = Owned<nvjpegJpegDecoder, nvjpegDecoderDestroy>;
using JpegState = Owned<nvjpegJpegState, nvjpegJpegStateDestroy>;
using JpegStream = Owned<nvjpegJpegStream, nvjpegJpegStreamDestroy>;
using PinnedBuffer = Owned<nvjpegBufferPinned, nvjpegBufferPinnedDestroy>;
using DeviceBuffer = Owned<nvjpegBufferDevice, nvjpegBufferDeviceDestroy>;
using Parameters = Owned<nvjpegDecodeParams, nvjpegDecodeParamsDestroy>;
using Stream = Owned<CUstream_st, cudaStreamDestroy>;

// Creates an object with create(&object).
template <class Owner, class Create>
Owner made(const Create& create) {
  typename Owner::pointer object = nullptr;
  require(create(&object));
  return Owner(object);
}

// Buffers grow in these steps, because growing one synchronises the whole GPU.
struct BufferSteps {
  size_t device, pinned;
};
inline constexpr BufferSteps kStepsPerThread{size_t{16} << 20, size_t{8} << 20};
// A batch has buffers for each of its images: 256 of them in four batches would otherwise take 16 GiB.
inline constexpr BufferSteps kStepsPerImage{size_t{1} << 20, size_t{256} << 10};

// Null where the GPU lacks the backend, e.g. the JPEG engine that NVJPEG_BACKEND_HARDWARE needs.
inline Handle new_handle(nvjpegBackend_t backend = NVJPEG_BACKEND_DEFAULT,
                         const BufferSteps& steps = kStepsPerThread) {
  // Chroma interpolation as in libjpeg's "fancy upsampling"; errors for files that violate the standard.
  constexpr unsigned kFlags = NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION | NVJPEG_FLAGS_BITSTREAM_STRICT;
  nvjpegHandle_t created = nullptr;
  const nvjpegStatus_t status = nvjpegCreateEx(backend, nullptr, nullptr, kFlags, &created);
  if (status != NVJPEG_STATUS_SUCCESS && backend == NVJPEG_BACKEND_HARDWARE) return nullptr;
  require(status);
  Handle handle(created);
  require(nvjpegSetDeviceMemoryPadding(steps.device, handle.get()));
  require(nvjpegSetPinnedMemoryPadding(steps.pinned, handle.get()));
  return handle;
}

inline Stream new_stream() {
  // Not from LibTorch's pool of 32 streams, which are reused and may include the compute stream.
  cudaStream_t stream = nullptr;
  C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

}  // namespace bench
