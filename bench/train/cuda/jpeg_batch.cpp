// Keeps a batch's encoded images until it is complete; retries images that nvJPEG refuses on the CPU.
#include "bench/train/cuda/jpeg_batch.h"

#ifdef HAVE_NVJPEG

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "bench/train/cuda/crop.h"

namespace bench {
namespace {

constexpr int64_t kUsualBytes = 256 * 1024;  // more than most of ImageNet's files have

at::Tensor pinned(int64_t bytes) {
  return at::empty({bytes}, at::TensorOptions(at::kByte).pinned_memory(true));
}

// An image that waits for the rest of its batch.
struct Kept {
  at::Tensor memory;  // pinned: the GPU reads encoded images from it
  std::span<const uint8_t> bytes;
  Augmentation augmentation;
  ImageSize size{};
  bool suits = false;  // nvJPEG decodes it in a batch
  JpegStream header;
  Parameters parameters;
};

// The part of an image that is decoded: its box with a margin on the JPEG engine, which can leave out the
// rest, otherwise all of it.
CropBox decoded_part(const Kept& image, bool only_box) {
  if (!only_box) return {0, 0, image.size.width, image.size.height};
  return with_margin(image.augmentation.box, image.size);
}

class NvjpegBatch : public BatchDecoder {
 public:
  NvjpegBatch(std::shared_ptr<BatchLibrary> library, std::unique_ptr<Decoder> alone, const BatchShape& shape)
      : library_(std::move(library)),
        alone_(std::move(alone)),
        shape_(shape),
        stream_(new_stream()),
        state_(made<JpegState>([&](auto* out) { return nvjpegJpegStateCreate(library_->handle(), out); })),
        kept_(size_t(shape.images)) {
    for (Kept& kept : kept_) {
      kept.memory = pinned(kUsualBytes);
      kept.header =
          made<JpegStream>([&](auto* out) { return nvjpegJpegStreamCreate(library_->handle(), out); });
      kept.parameters =
          made<Parameters>([&](auto* out) { return nvjpegDecodeParamsCreate(library_->handle(), out); });
      require(nvjpegDecodeParamsSetOutputFormat(kept.parameters.get(), NVJPEG_OUTPUT_RGB));
    }
  }

  void add(int64_t place, const EncodedImage& image, const Augmentation& augmentation,
           Decoder& decoder) override {
    const c10::cuda::CUDAGuard on_gpu(c10::DeviceIndex(library_->gpu));
    Kept& kept = kept_[size_t(place)];
    kept.suits = false;
    const auto bytes = int64_t(image.bytes.size());
    if (kept.memory.numel() < bytes) kept.memory = pinned(bytes + bytes / 4);
    auto* const memory = kept.memory.mutable_data_ptr<uint8_t>();
    std::ranges::copy(image.bytes, memory);
    kept.bytes = {memory, image.bytes.size()};
    kept.augmentation = augmentation;
    const std::optional<ImageSize> size = decoder.size_if_usual(image, augmentation.box);
    kept.size = size.value_or(ImageSize{});
    kept.suits = size && suits(kept);
  }

  std::vector<Undecodable> decode(uint8_t* images) override {
    const c10::cuda::CUDAGuard on_gpu(c10::DeviceIndex(library_->gpu));
    const c10::cuda::CUDAStreamGuard on(
        c10::cuda::getStreamFromExternal(stream_.get(), c10::DeviceIndex(library_->gpu)));
    const c10::InferenceMode no_gradients;
    std::vector<size_t> together, alone;
    for (size_t place = 0; place < kept_.size(); ++place)
      (kept_[place].suits ? together : alone).push_back(place);
    if (!together.empty() && !decode_together(together, images)) {
      cudaGetLastError();  // clears nvJPEG's error, which LibTorch would report as its own
      alone.insert(alone.end(), together.begin(), together.end());
    } else {
      library_->decoded += int64_t(together.size());
    }
    // Blocks without spinning (cudaEventBlockingSync).
    ended_.record();
    ended_.synchronize();
    std::vector<Undecodable> bad;
    for (const size_t place : alone) {
      try {
        const EncodedImage image{kept_[place].bytes};
        alone_->size(image);
        alone_->crop(image, kept_[place].augmentation, int(shape_.side_px), shape_.format,
                     place_in(images, place));
      } catch (const BadImage& error) {
        bad.push_back({int64_t(place), error.what()});
      }
    }
    return bad;
  }

 private:
  uint8_t* place_in(uint8_t* images, size_t place) const {
    return images + int64_t(place) * bytes_per_image(shape_.format, shape_.side_px);
  }

  // Whether nvJPEG decodes this image in a batch. Called by the threads that read images.
  bool suits(const Kept& image) const {
    const nvjpegHandle_t handle = library_->handle();
    int unsupported = 1;
    if (!accepted(
            nvjpegJpegStreamParseHeader(handle, image.bytes.data(), image.bytes.size(), image.header.get())))
      return false;
    if (!library_->on_engine())
      return accepted(nvjpegDecodeBatchedSupported(handle, image.header.get(), &unsupported)) &&
             unsupported == 0;
    const CropBox part = decoded_part(image, true);
    require(nvjpegDecodeParamsSetROI(image.parameters.get(), part.left, part.top, part.width, part.height));
    return accepted(nvjpegDecodeBatchedSupportedEx(handle, image.header.get(), image.parameters.get(),
                                                   &unsupported)) &&
           unsupported == 0;
  }

  // Enqueues decoding and cropping of these places. Returns false if nvJPEG refused the batch.
  bool decode_together(const std::vector<size_t>& places, uint8_t* images) {
    const bool on_engine = library_->on_engine();
    int64_t bytes = 0;
    for (const size_t place : places) {
      const CropBox part = decoded_part(kept_[place], on_engine);
      bytes += int64_t{3} * part.width * part.height;
    }
    if (!memory_.defined() || memory_.numel() < bytes)
      memory_ = at::empty({bytes + bytes / 4}, at::TensorOptions(at::kByte).device(at::kCUDA));
    std::vector<const unsigned char*> files;
    std::vector<size_t> lengths;
    std::vector<nvjpegImage_t> decoded;
    std::vector<nvjpegDecodeParams_t> parameters;
    std::vector<DecodedImage> crops;
    uint8_t* next = memory_.mutable_data_ptr<uint8_t>();
    for (const size_t place : places) {
      const Kept& image = kept_[place];
      const CropBox part = decoded_part(image, on_engine), &box = image.augmentation.box;
      const int64_t plane = int64_t{part.width} * part.height;
      files.push_back(image.bytes.data());
      lengths.push_back(image.bytes.size());
      parameters.push_back(image.parameters.get());
      nvjpegImage_t& planes = decoded.emplace_back();
      DecodedImage& crop = crops.emplace_back(DecodedImage{{},
                                                           part.width,
                                                           box.left - part.left,
                                                           box.top - part.top,
                                                           box.width,
                                                           box.height,
                                                           image.augmentation.flip,
                                                           place_in(images, place)});
      for (int channel = 0; channel < 3; ++channel, next += plane) {
        crop.planes[channel] = planes.channel[channel] = next;
        planes.pitch[channel] = size_t(part.width);
      }
    }
    const int count = int(places.size());
    const nvjpegHandle_t handle = library_->handle();
    constexpr int kThreads = 1;  // of the CPU, for Huffman codes where the GPU doesn't decode them
    if (!accepted(nvjpegDecodeBatchedInitialize(handle, state_.get(), count, kThreads, NVJPEG_OUTPUT_RGB)))
      return false;
    if (!accepted(on_engine ? nvjpegDecodeBatchedEx(handle, state_.get(), files.data(), lengths.data(),
                                                    decoded.data(), parameters.data(), stream_.get())
                            : nvjpegDecodeBatched(handle, state_.get(), files.data(), lengths.data(),
                                                  decoded.data(), stream_.get())))
      return false;
    const int64_t described = int64_t(crops.size() * sizeof(DecodedImage));
    if (!described_.defined() || described_.numel() < described)
      described_ = at::empty({described}, memory_.options());
    // From pageable memory: on return the source has been read.
    C10_CUDA_CHECK(cudaMemcpyAsync(described_.mutable_data_ptr(), crops.data(), size_t(described),
                                   cudaMemcpyHostToDevice, stream_.get()));
    crop_and_resize(static_cast<const DecodedImage*>(described_.const_data_ptr()), count, int(shape_.side_px),
                    shape_.format, stream_.get());
    return true;
  }

  const std::shared_ptr<BatchLibrary> library_;
  const std::unique_ptr<Decoder> alone_;
  const BatchShape shape_;
  const Stream stream_;
  JpegState state_;
  std::vector<Kept> kept_;         // by place
  at::Tensor memory_, described_;  // decoded planes; crops
  at::cuda::CUDAEvent ended_{cudaEventDisableTiming | cudaEventBlockingSync};
};

}  // namespace

BatchLibrary::BatchLibrary(int number) : gpu(number) {
  const c10::cuda::CUDAGuard on{c10::DeviceIndex(number)};
  handle_ = new_handle(NVJPEG_BACKEND_HARDWARE, kStepsPerImage);
  on_engine_ = handle_ != nullptr;
  if (!handle_) handle_ = new_handle(NVJPEG_BACKEND_GPU_HYBRID, kStepsPerImage);
}

std::unique_ptr<BatchDecoder> make_batch_decoder(std::shared_ptr<BatchLibrary> library,
                                                 std::unique_ptr<Decoder> alone, const BatchShape& shape) {
  const c10::cuda::CUDAGuard on{c10::DeviceIndex(library->gpu)};
  return std::make_unique<NvjpegBatch>(std::move(library), std::move(alone), shape);
}

}  // namespace bench
#endif
