// cuda: an NVIDIA GPU. Batches are copied into one of two buffers. With `prefetch` copies run on a separate
// stream during the previous step; streams synchronise with events, and the host waits only where necessary.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "bench/train/cuda/clock.h"
#include "bench/train/cuda/jpeg.h"
#include "bench/train/cuda/nccl_exchange.h"
#include "bench/train/cuda/normalise.h"
#include "bench/train/cuda/readings.h"
#include "bench/train/cuda/recording.h"
#include "bench/train/device/copies_under_way.h"
#include "bench/train/device/device.h"

namespace bench {
namespace {

std::shared_ptr<void> pinned_memory(size_t bytes) {
  void* memory = nullptr;
  if (const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault); error != cudaSuccess)
    throw std::runtime_error(
        fmt::format("out of memory: {} bytes of pinned host memory for batches: {}; use a "
                    "smaller ring_depth or pinned=false",
                    bytes, cudaGetErrorString(error)));
  return {memory, [](void* pinned) { cudaFreeHost(pinned); }};
}

ImageType kernel_type(at::ScalarType type) {
  return type == at::kHalf       ? ImageType::float16
         : type == at::kBFloat16 ? ImageType::bfloat16
                                 : ImageType::float32;
}

class Cuda : public Device, public Accelerator {
 public:
  explicit Cuda(const DeviceOptions& options)
      : options_(options),
        device_(at::kCUDA, c10::DeviceIndex(options.local_rank % std::max(1, int(at::cuda::device_count())))),
        under_way_(options.row.non_blocking) {
    if (options.ranks_of_machine > 0)  // before there are threads and pinned memory
      notes_ =
          bind_beside_gpus(options.local_rank, options.ranks_of_machine, options.replicas, options.cores);
    c10::cuda::set_device(device_.index());
    at::set_num_threads(int(options.row.intra_op_threads));
    at::globalContext().setBenchmarkCuDNN(options.row.cudnn_benchmark);
    at::globalContext().setAllowTF32CuDNN(options.row.tf32);
    const auto new_stream = [&] {
      return c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device_.index());
    };
    if (options.row.prefetch) copy_stream_.emplace(new_stream());
    if (options.row.cuda_graphs)
      c10::cuda::setCurrentCUDAStream(new_stream());  // the default stream can't be captured
    for (Slot& slot : slots_) slot = make_slot();
    synchronize();
  }
  at::Device torch_device() const override { return device_; }
  Accelerator* accelerator() override { return this; }
  at::Device of_replica(int64_t number) const override {
    return {at::kCUDA, c10::DeviceIndex((device_.index() + number) % at::cuda::device_count())};
  }
  void enter(int64_t number) const override { c10::cuda::set_device(of_replica(number).index()); }
  std::string name() const override { return at::cuda::getDeviceProperties(device_.index())->name; }
  HostAllocator host_allocator() const override {
    return options_.pinned() ? HostAllocator(pinned_memory) : HostAllocator();
  }

  void use_image_type(at::ScalarType type) override {
    if (options_.format() != BatchFormat::uint8) return;
    image_type_ = type;
    for (Slot& slot : slots_) slot = make_slot();
    synchronize();
  }

  DeviceDecoding decoding(const std::string& decoder) override {
    if (!decoding_)
      decoding_ = decoder == "nvjpeg_batched" ? decode_batches_with_nvjpeg(device_.index())
                                              : decode_with_nvjpeg(device_.index());
    return *decoding_;
  }

  DeviceBatch copy_batch(const Batch& batch) override {
    const c10::cuda::CUDAStream compute = c10::cuda::getCurrentCUDAStream();
    slots_[last_].used.record(compute);  // after all work that reads the previous batch
    last_ = 1 - last_;
    Slot& slot = slots_[last_];
    const c10::cuda::CUDAStream stream = copy_stream_.value_or(compute);
    slot.used.block(stream);
    slot.began.record(stream);
    copy(slot.received, batch.images, stream);
    copy(slot.labels, batch.labels, stream);
    slot.copied.record(stream);
    slot.copied.block(compute);
    if (!options_.row.non_blocking) slot.copied.synchronize();
    under_way_.add(batch, last_);
    if (options_.format() == BatchFormat::uint8)
      normalise(slot.received.const_data_ptr<uint8_t>(), slot.images.mutable_data_ptr(),
                kernel_type(image_type_), options_.row.channels_last, options_.batch_size,
                options_.row.image_px, compute);
    else if (in_other_order())
      slot.images.copy_(slot.received);
    return {slot.images, slot.labels};
  }

  std::optional<Batch> take_copied() override {
    const auto oldest = under_way_.take();
    if (!oldest) return std::nullopt;
    const Slot& slot = slots_[oldest->second];
    slot.copied.synchronize();
    copying_ms_ += slot.began.elapsed_time(slot.copied);
    ++copies_;
    return oldest->first;
  }

  void finish_copy() override {
    slots_[last_].copied.synchronize();
    under_way_.note_synchronised();  // earlier copies used the same stream
  }

  void synchronize() override {
    c10::cuda::device_synchronize();
    under_way_.note_synchronised();
  }
  void empty_cache() override { c10::cuda::CUDACachingAllocator::emptyCache(); }
  std::unique_ptr<DeviceClock> make_clock(size_t marks) const override {
    return std::make_unique<CudaClock>(marks);
  }
  std::unique_ptr<DeviceSampler> make_sampler(double period_ms, int64_t replicas) const override {
    std::vector<int> gpus;
    for (int64_t replica = 0; replica < replicas; ++replica) gpus.push_back(of_replica(replica).index());
    return make_gpu_sampler(gpus, period_ms);
  }

  std::unique_ptr<ReplicaExchange> make_exchange(const std::vector<Model*>& models) const override {
    // NCCL's clique has one device per replica.
    const auto& parameters = models[0]->parameters();
    const bool divided = std::any_of(parameters.begin(), parameters.end(), [&](const NamedTensor& one) {
      return one.tensor.device() != parameters[0].tensor.device();
    });
    return !divided && int64_t(models.size()) <= at::cuda::device_count()
               ? std::make_unique<NcclExchange>(models)
               : nullptr;
  }
  std::unique_ptr<Recording> make_recording() override {
    if (!pool_) pool_ = at::cuda::graph_pool_handle();
    return std::make_unique<CudaRecording>(*pool_);
  }

  std::vector<std::string> notes() const override { return notes_; }
  nlohmann::json describe() const override {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index());
    const cudaDeviceProp* properties = at::cuda::getDeviceProperties(device_.index());
    return {{"memory_bytes", properties->totalGlobalMem},
            {"compute_capability", fmt::format("{}.{}", properties->major, properties->minor)},
            {"multiprocessors", properties->multiProcessorCount},
            {"peak_allocated_bytes", peak(stats.allocated_bytes)},
            {"peak_allocated_bytes_by_device", peaks_of_all_devices()},
            {"peak_reserved_bytes", peak(stats.reserved_bytes)},
            {"h2d_bytes", h2d_bytes()},
            {"h2d_gb_per_s", h2d_gb_per_s()},
            {"nvjpeg", decoding_ ? nlohmann::json(nvjpeg_version()) : nlohmann::json()},
            {"jpeg_engine", decoding_ ? nlohmann::json(decoding_->on_engine) : nlohmann::json()},
            {"cudnn", at::detail::getCUDAHooks().versionCuDNN()},
            {"cudnn_benchmark", at::globalContext().benchmarkCuDNN()},
            {"tf32_convolutions", at::globalContext().allowTF32CuDNN()},
            {"tf32_products", at::globalContext().allowTF32CuBLAS()}};
  }

 private:
  struct Slot {
    at::Tensor received;  // in the host's format
    at::Tensor images;    // the network's input; may be `received` itself
    at::Tensor labels;
    at::cuda::CUDAEvent used{cudaEventDisableTiming};  // end of the last step that read this slot
    at::cuda::CUDAEvent began{cudaEventDefault}, copied{cudaEventDefault};  // of the copy to it
  };

  template <class Figures>
  static int64_t peak(const Figures& figures) {
    return figures[size_t(c10::CachingAllocator::StatType::AGGREGATE)].peak;
  }
  // By replica, without devices that this process hasn't used.
  std::vector<int64_t> peaks_of_all_devices() const {
    std::vector<int64_t> peaks;
    for (int64_t number = 0; number < at::cuda::device_count(); ++number) {
      const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(of_replica(number).index());
      peaks.push_back(peak(stats.allocated_bytes));
    }
    while (peaks.size() > 1 && peaks.back() == 0) peaks.pop_back();
    return peaks;
  }

  // Host-to-device bytes per batch; without images if they are decoded on the GPU.
  size_t h2d_bytes() const {
    return (decoding_ ? 0 : slots_[0].received.nbytes()) + slots_[0].labels.nbytes();
  }

  // Host-to-device bandwidth of all batches so far, by CUDA events; null if unknown.
  nlohmann::json h2d_gb_per_s() const {
    if (copies_ == 0 || decoding_) return nullptr;
    return double(h2d_bytes()) * double(copies_) / copying_ms_ / 1e6;
  }

  bool in_other_order() const {
    return options_.format() == BatchFormat::float32 && options_.row.channels_last;
  }

  Slot make_slot() const {
    const int64_t size = options_.batch_size, px = options_.row.image_px;
    const auto floats = at::TensorOptions(at::kFloat).device(device_);
    const bool nhwc = options_.row.channels_last || options_.format() == BatchFormat::channels_last;
    Slot slot;
    slot.images = at::empty({size, 3, px, px}, floats.dtype(image_type_),
                            nhwc ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
    slot.received = slot.images;
    if (options_.format() == BatchFormat::uint8)
      slot.received = at::empty({size, px, px, 3}, floats.dtype(at::kByte));
    if (in_other_order()) slot.received = at::empty({size, 3, px, px}, floats);
    slot.labels = at::empty({size}, floats.dtype(at::kLong));
    return slot;
  }

  void copy(const at::Tensor& to, const void* from, cudaStream_t stream) {
    C10_CUDA_CHECK(cudaMemcpyAsync(to.mutable_data_ptr(), from, to.nbytes(), cudaMemcpyDefault, stream));
  }

  const DeviceOptions options_;
  const at::Device device_;
  std::vector<std::string> notes_;
  std::optional<c10::cuda::CUDAStream> copy_stream_;  // with `prefetch`
  std::optional<CudaRecording::Pool> pool_;
  std::optional<DeviceDecoding> decoding_;  // with `decoder: nvjpeg`
  at::ScalarType image_type_ = at::kFloat;
  std::array<Slot, 2> slots_;
  int last_ = 0;
  CopiesUnderWay<int> under_way_;  // with their slots
  double copying_ms_ = 0;
  int64_t copies_ = 0;
};

// Why no GPU is usable; empty if one is. Called before any LibTorch function.
std::string why_not() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return "";
  return fmt::format("no usable NVIDIA GPU: {}",
                     error == cudaSuccess ? "none found" : cudaGetErrorString(error));
}

int gpu_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

const bool registered_device_cuda = DeviceRegistry::instance().add(
    {"device", "cuda", "NVIDIA GPUs", {.count = gpu_count(), .nvjpeg = has_nvjpeg()}, why_not()},
    [](const DeviceOptions& options) { return std::make_unique<Cuda>(options); });

}  // namespace
}  // namespace bench
