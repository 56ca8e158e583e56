// cuda: an NVIDIA GPU. Batches are copied on a stream of their own into one of two buffers, so that a copy
// runs while the step before it computes; the streams wait for each other through events, the host only where
// it must.
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

#include "bench/device/cuda_clock.h"
#include "bench/device/device.h"
#include "bench/device/normalise.h"

namespace bench {
namespace {

std::shared_ptr<void> pinned_memory(size_t bytes) {
  void* memory = nullptr;
  if (const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault); error != cudaSuccess)
    throw std::runtime_error(
        fmt::format("out of memory: {} bytes of pinned host memory for batches: {}; take "
                    "fewer of them (ring_depth) or pinned=false",
                    bytes, cudaGetErrorString(error)));
  return {memory, [](void* pinned) { cudaFreeHost(pinned); }};
}

class Cuda : public Device {
 public:
  explicit Cuda(const DeviceOptions& options)
      : options_(options),
        device_(at::kCUDA,
                c10::DeviceIndex(options.local_rank % std::max(1, int(at::cuda::device_count())))) {
    c10::cuda::set_device(device_.index());
    at::set_num_threads(int(options.intra_op_threads));
    at::globalContext().setBenchmarkCuDNN(options.cudnn_benchmark);
    at::globalContext().setAllowTF32CuDNN(options.tf32);
    copy_stream_.emplace(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device_.index()));
    for (Slot& slot : slots_) slot = make_slot();
    synchronize();
  }
  at::Device torch_device() const override { return device_; }
  at::Device of_replica(int64_t number) const override {
    return {at::kCUDA, c10::DeviceIndex((device_.index() + number) % at::cuda::device_count())};
  }
  void enter(int64_t number) const override { c10::cuda::set_device(of_replica(number).index()); }
  std::string name() const override { return at::cuda::getDeviceProperties(device_.index())->name; }
  HostAllocator host_allocator() const override {
    return options_.pinned ? HostAllocator(pinned_memory) : HostAllocator();
  }

  DeviceBatch copy_batch(const Batch& batch) override {
    const c10::cuda::CUDAStream compute = c10::cuda::getCurrentCUDAStream();
    slots_[last_].used.record(compute);  // all that reads the batch before has been given to the device
    last_ = 1 - last_;
    Slot& slot = slots_[last_];
    slot.used.block(*copy_stream_);
    copy(slot.received, batch.images);
    copy(slot.labels, batch.labels);
    slot.copied.record(*copy_stream_);
    slot.copied.block(compute);
    if (!options_.non_blocking) slot.copied.synchronize();
    under_way_.push_back({batch, last_});
    if (options_.format == BatchFormat::uint8)
      normalise(slot.received.const_data_ptr<uint8_t>(), slot.images.mutable_data_ptr(), ImageType::float32,
                options_.channels_last, options_.batch_size, options_.image_px, compute);
    else if (in_other_order())
      slot.images.copy_(slot.received);
    return {slot.images, slot.labels};
  }

  std::optional<Batch> take_copied() override {
    // After copy_batch() the one before it: by then its copy has ended, unless the host runs far ahead.
    if (under_way_.empty() || (under_way_.size() == 1 && options_.non_blocking && !synchronised_))
      return std::nullopt;
    const auto [batch, slot] = under_way_.front();
    under_way_.erase(under_way_.begin());
    slots_[slot].copied.synchronize();
    return batch;
  }

  void synchronize() override {
    c10::cuda::device_synchronize();
    synchronised_ = true;
  }
  std::unique_ptr<DeviceClock> make_clock(int64_t batches) const override {
    return std::make_unique<CudaClock>(batches);
  }

  nlohmann::json describe() const override {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index());
    const auto peak = [](const auto& figures) {
      return figures[size_t(c10::CachingAllocator::StatType::AGGREGATE)].peak;
    };
    const cudaDeviceProp* properties = at::cuda::getDeviceProperties(device_.index());
    return {{"memory_bytes", properties->totalGlobalMem},
            {"compute_capability", fmt::format("{}.{}", properties->major, properties->minor)},
            {"multiprocessors", properties->multiProcessorCount},
            {"peak_allocated_bytes", peak(stats.allocated_bytes)},
            {"peak_reserved_bytes", peak(stats.reserved_bytes)},
            {"cudnn", at::detail::getCUDAHooks().versionCuDNN()},
            {"cudnn_benchmark", at::globalContext().benchmarkCuDNN()},
            {"tf32_convolutions", at::globalContext().allowTF32CuDNN()},
            {"tf32_products", at::globalContext().allowTF32CuBLAS()}};
  }

 private:
  struct Slot {
    at::Tensor received;  // as the host has it
    at::Tensor images;    // as the network takes it; `received` itself where these are the same
    at::Tensor labels;
    at::cuda::CUDAEvent used{cudaEventDisableTiming};    // the last step that read this slot has ended
    at::cuda::CUDAEvent copied{cudaEventDisableTiming};  // the copy into it has ended
  };

  bool in_other_order() const { return options_.format == BatchFormat::float32 && options_.channels_last; }

  Slot make_slot() const {
    const int64_t size = options_.batch_size, px = options_.image_px;
    const auto floats = at::TensorOptions(at::kFloat).device(device_);
    const bool nhwc = options_.channels_last || options_.format == BatchFormat::channels_last;
    Slot slot;
    slot.images = at::empty({size, 3, px, px}, floats,
                            nhwc ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
    slot.received = slot.images;
    if (options_.format == BatchFormat::uint8)
      slot.received = at::empty({size, px, px, 3}, floats.dtype(at::kByte));
    if (in_other_order()) slot.received = at::empty({size, 3, px, px}, floats);
    slot.labels = at::empty({size}, floats.dtype(at::kLong));
    return slot;
  }

  void copy(const at::Tensor& to, const void* from) {
    C10_CUDA_CHECK(cudaMemcpyAsync(to.mutable_data_ptr(), from, to.nbytes(), cudaMemcpyHostToDevice,
                                   copy_stream_->stream()));
    synchronised_ = false;
  }

  const DeviceOptions options_;
  const at::Device device_;
  std::optional<c10::cuda::CUDAStream> copy_stream_;
  std::array<Slot, 2> slots_;
  int last_ = 0;
  std::vector<std::pair<Batch, int>> under_way_;  // host batches not yet given back, with their slots
  bool synchronised_ = true;
};

// Without a GPU, or without a driver for it, the reason why; asked before anything of LibTorch is.
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

const bool registered = DeviceRegistry::instance().add(
    {"device", "cuda", "NVIDIA GPUs", {{"count", gpu_count()}}, why_not()},
    [](const DeviceOptions& options) { return std::make_unique<Cuda>(options); });

}  // namespace
}  // namespace bench
