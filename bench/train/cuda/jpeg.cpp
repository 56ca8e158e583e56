// Decodes the region around the crop into GPU memory, then resizes and normalises it with LibTorch.
#include "bench/train/cuda/jpeg.h"

#ifdef HAVE_NVJPEG

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "bench/train/cuda/jpeg_batch.h"
#include "bench/train/cuda/nvjpeg_handles.h"
#include "bench/train/device/crop_planes.h"

namespace bench {
namespace {

// LibTorch's resize kernel keeps the filter weights in 48 KiB of shared memory, enough for a factor of 93.
constexpr int kMostShrinking = 64;

// State shared by all threads.
struct Library {
  explicit Library(c10::DeviceIndex number) : gpu(number) {}
  const c10::DeviceIndex gpu;
  const Handle handle = new_handle();
  const Normalisation normalisation{at::kCUDA};
  std::atomic<int64_t> by_cuda{0}, by_cpu{0};  // images
};

std::shared_ptr<Library> open_library(c10::DeviceIndex gpu) {
  const c10::cuda::CUDAGuard on(gpu);
  auto library = std::make_shared<Library>(gpu);
  c10::cuda::device_synchronize();  // before streams of other threads read `normalisation`
  return library;
}

// One of nvJPEG's backends with its decoder and state.
struct Backend {
  Backend(nvjpegHandle_t handle, nvjpegBackend_t kind)
      : decoder(made<JpegDecoder>([&](auto* out) { return nvjpegDecoderCreate(handle, kind, out); })),
        state(made<JpegState>(
            [&](auto* out) { return nvjpegDecoderStateCreate(handle, decoder.get(), out); })) {}
  JpegDecoder decoder;
  JpegState state;
};

// Decodes into planes in GPU memory with nvJPEG's decoupled API. One per loader thread.
class Planes {
 public:
  explicit Planes(const Library& library)
      : handle_(library.handle.get()),
        on_gpu_(handle_, NVJPEG_BACKEND_GPU_HYBRID),
        on_both_(handle_, NVJPEG_BACKEND_HYBRID),
        file_(made<JpegStream>([&](auto* out) { return nvjpegJpegStreamCreate(handle_, out); })),
        pinned_(
            made<PinnedBuffer>([&](auto* out) { return nvjpegBufferPinnedCreate(handle_, nullptr, out); })),
        device_(
            made<DeviceBuffer>([&](auto* out) { return nvjpegBufferDeviceCreate(handle_, nullptr, out); })),
        parameters_(made<Parameters>([&](auto* out) { return nvjpegDecodeParamsCreate(handle_, out); })) {
    require(nvjpegDecodeParamsSetOutputFormat(parameters_.get(), NVJPEG_OUTPUT_RGB));
  }

  // The box's pixels as 1 x 3 x height x width, uint8, valid until the next call; an undefined tensor if the
  // image was refused. Enqueues work on `stream` in both cases.
  at::Tensor decode(std::span<const uint8_t> file, ImageSize size, const CropBox& box, cudaStream_t stream) {
    const auto [left, top, width, height] = with_margin(box, size);
    require(nvjpegDecodeParamsSetROI(parameters_.get(), left, top, width, height));
    if (!accepted(nvjpegJpegStreamParse(handle_, file.data(), file.size(), 0, 0, file_.get()))) return {};
    Backend* const backend = backend_for_file();
    if (!backend || !run(*backend, planes_of(width, height), stream)) return {};
    return memory_.narrow(0, 0, int64_t{3} * width * height)
        .view({1, 3, height, width})
        .narrow(2, box.top - top, box.height)
        .narrow(3, box.left - left, box.width);
  }

 private:
  // The GPU decodes the Huffman codes of baseline files, which is most of the work per image, because rows
  // are to show how much a GPU can take over. (NVIDIA's DALI uses it from one megapixel.) The CPU decodes
  // those of progressive files, which the GPU's decoder doesn't support.
  Backend* backend_for_file() {
    nvjpegJpegEncoding_t encoding = NVJPEG_ENCODING_UNKNOWN;
    if (!accepted(nvjpegJpegStreamGetJpegEncoding(file_.get(), &encoding))) return nullptr;
    if (encoding == NVJPEG_ENCODING_BASELINE_DCT && knows_file(on_gpu_)) return &on_gpu_;
    return knows_file(on_both_) ? &on_both_ : nullptr;
  }

  bool knows_file(const Backend& backend) const {
    int unsupported = 1;
    return accepted(nvjpegDecoderJpegSupported(backend.decoder.get(), file_.get(), parameters_.get(),
                                               &unsupported)) &&
           unsupported == 0;
  }

  nvjpegImage_t planes_of(int width, int height) {
    const int64_t plane = int64_t{width} * height;
    if (!memory_.defined() || memory_.numel() < 3 * plane)
      memory_ = at::empty({3 * plane}, at::TensorOptions(at::kByte).device(at::kCUDA));
    nvjpegImage_t planes{};
    for (int channel = 0; channel < 3; ++channel) {
      planes.channel[channel] = memory_.mutable_data_ptr<uint8_t>() + channel * plane;
      planes.pitch[channel] = size_t(width);
    }
    return planes;
  }

  bool run(Backend& backend, nvjpegImage_t planes, cudaStream_t stream) {
    const nvjpegJpegDecoder_t decoder = backend.decoder.get();
    const nvjpegJpegState_t state = backend.state.get();
    require(nvjpegStateAttachPinnedBuffer(state, pinned_.get()));
    require(nvjpegStateAttachDeviceBuffer(state, device_.get()));
    return accepted(nvjpegDecodeJpegHost(handle_, decoder, state, parameters_.get(), file_.get())) &&
           accepted(nvjpegDecodeJpegTransferToDevice(handle_, decoder, state, file_.get(), stream)) &&
           accepted(nvjpegDecodeJpegDevice(handle_, decoder, state, &planes, stream));
  }

  const nvjpegHandle_t handle_;
  Backend on_gpu_, on_both_;
  JpegStream file_;
  PinnedBuffer pinned_;
  DeviceBuffer device_;
  Parameters parameters_;
  at::Tensor memory_;
};

class CudaJpeg : public Decoder {
 public:
  explicit CudaJpeg(std::shared_ptr<Library> library)  // construct with its GPU as current device
      : library_(std::move(library)), stream_(new_stream()), planes_(*library_) {}

  void crop(const EncodedImage& image, const Augmentation& augmentation, int side, BatchFormat format,
            void* out) override {
    const c10::cuda::CUDAStreamGuard on(c10::cuda::getStreamFromExternal(stream_.get(), library_->gpu));
    const c10::InferenceMode no_gradients;
    const bool cropped = crop_on_gpu(image, augmentation, side, format, out);
    if (!cropped) cudaGetLastError();  // clears nvJPEG's error, which LibTorch would report as its own
    // Blocks without spinning (cudaEventBlockingSync), unlike cudaStreamSynchronize.
    ended_.record();
    ended_.synchronize();
    ++(cropped ? library_->by_cuda : library_->by_cpu);
    if (!cropped) crop_on_cpu(image, augmentation, side, format, out);
  }

 private:
  bool crop_on_gpu(const EncodedImage& image, const Augmentation& augmentation, int side, BatchFormat format,
                   void* out) {
    const CropBox& box = augmentation.box;
    const std::optional<ImageSize> size = size_if_usual(image, box);
    if (!size || std::max(box.width, box.height) > kMostShrinking * side) return false;
    const at::Tensor planes = planes_.decode(image.bytes, *size, box, stream_.get());
    if (planes.defined()) write_crop(planes, augmentation.flip, side, format, library_->normalisation, out);
    return planes.defined();
  }

  void crop_on_cpu(const EncodedImage& image, const Augmentation& augmentation, int side, BatchFormat format,
                   void* out) {
    decoded_.resize(size_t(bytes_per_image(format, side)));
    Decoder::crop(image, augmentation, side, format, decoded_.data());
    C10_CUDA_CHECK(
        cudaMemcpyAsync(out, decoded_.data(), decoded_.size(), cudaMemcpyHostToDevice, stream_.get()));
    C10_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
  }

  const std::shared_ptr<Library> library_;
  const Stream stream_;
  Planes planes_;
  at::cuda::CUDAEvent ended_{cudaEventDisableTiming | cudaEventBlockingSync};
  std::vector<uint8_t> decoded_;
};

std::shared_ptr<void> device_memory(c10::DeviceIndex gpu, size_t bytes) {
  const auto memory = std::make_shared<at::Tensor>(
      at::zeros({int64_t(bytes)}, at::TensorOptions(at::kByte).device(at::kCUDA, gpu)));
  c10::cuda::device_synchronize();  // this stream's zeroing must end before other streams write
  return {memory, memory->mutable_data_ptr()};
}

}  // namespace

DeviceDecoding decode_with_nvjpeg(int gpu) {
  const auto library = open_library(c10::DeviceIndex(gpu));
  return {
      .make_decoder =
          [library] {
            const c10::cuda::CUDAGuard on(library->gpu);
            return std::make_unique<CudaJpeg>(library);
          },
      .allocate_images = [library](size_t bytes) { return device_memory(library->gpu, bytes); },
      .fill = [](void* to, const void* from,
                 size_t bytes) { C10_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice)); },
      .decoded =
          [library] {
            return harness::RecordDecoded{0, library->by_cuda, library->by_cpu};
          },
  };
}

DeviceDecoding decode_batches_with_nvjpeg(int gpu) {
  DeviceDecoding decoding = decode_with_nvjpeg(gpu);
  const auto library = std::make_shared<BatchLibrary>(gpu);
  decoding.on_engine = library->on_engine();
  decoding.make_batch_decoder = [library, alone = decoding.make_decoder](const BatchShape& shape) {
    return make_batch_decoder(library, alone(), shape);
  };
  decoding.decoded = [library, alone = decoding.decoded] {
    harness::RecordDecoded all = alone();
    (library->on_engine() ? all.jpeg_engine : all.cuda) += library->decoded;
    return all;
  };
  return decoding;
}

std::string nvjpeg_version() {
  int major = 0, minor = 0, patch = 0;
  require(nvjpegGetProperty(MAJOR_VERSION, &major));
  require(nvjpegGetProperty(MINOR_VERSION, &minor));
  require(nvjpegGetProperty(PATCH_LEVEL, &patch));
  return fmt::format("{}.{}.{}", major, minor, patch);
}

bool has_nvjpeg() { return true; }

}  // namespace bench
#else
#include <stdexcept>

namespace bench {

bool has_nvjpeg() { return false; }

DeviceDecoding decode_with_nvjpeg(int) { throw std::logic_error("this build has no nvJPEG"); }

DeviceDecoding decode_batches_with_nvjpeg(int) { throw std::logic_error("this build has no nvJPEG"); }

std::string nvjpeg_version() { throw std::logic_error("this build has no nvJPEG"); }

}  // namespace bench
#endif
