// copy/: batches to the GPU, compared with a bare copy of the same bytes. normalise/: the device's kernel,
// compared with a copy within GPU memory (copy/within). statistics/: a batch norm's mean and variance beside
// LibTorch's. All are timed on the device over many calls.
// decode/nvjpeg/: the decoder of `decoder: nvjpeg`, compared with the CPU's with the same number of threads.
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/batch_norm_stats.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <future>

#include "bench/micro/images.h"
#include "bench/micro/options.h"
#include "bench/train/cuda/fused_layers.h"
#include "bench/train/cuda/jpeg.h"
#include "bench/train/cuda/normalise.h"
#include "bench/train/device/device.h"
#include "bench/train/model/model.h"

namespace bench {
namespace {

constexpr int64_t kImages = 256, kSide = 224;  // the article's batch
constexpr int kInARow = 20;

bool gpu_is_here() {
  for (const Value& value : registered_values())
    if (value.axis == "device" && value.name == "cuda") return value.missing.empty();
  return false;
}

at::TensorOptions on_gpu(at::ScalarType type) { return at::TensorOptions(type).device(at::kCUDA); }

// Enqueues `work` kInARow times in the current stream between two events. bytes: moved by one call of `work`.
template <class Work>
void time_on_device(benchmark::State& state, int64_t bytes, Work work) {
  for (int i = 0; i < 3; ++i) work();
  c10::cuda::device_synchronize();
  for (auto _ : state) {
    at::cuda::CUDAEvent begin(cudaEventDefault), end(cudaEventDefault);
    begin.record();
    for (int i = 0; i < kInARow; ++i) work();
    end.record();
    end.synchronize();
    state.SetIterationTime(begin.elapsed_time(end) / 1e3);
  }
  state.SetBytesProcessed(int64_t(state.iterations()) * kInARow * bytes);
}

void bare_copy(benchmark::State& state, bool pinned) {
  const DeviceOptions options{.row = {.pinned = pinned, .image_px = kSide}, .batch_size = kImages};
  const auto device = DeviceRegistry::instance().find("cuda")(options);
  const int64_t bytes = kImages * bytes_per_image(BatchFormat::float32, kSide);
  BatchBuffer host(kImages, bytes / kImages,
                   pinned ? device->accelerator()->host_allocator() : BatchBuffer::on_heap);
  const at::Tensor there = at::empty({bytes}, on_gpu(at::kByte));
  time_on_device(state, bytes, [&] {
    cudaMemcpyAsync(there.mutable_data_ptr(), host.images(), size_t(bytes), cudaMemcpyHostToDevice,
                    c10::cuda::getCurrentCUDAStream());
  });
}

void copy_batches(benchmark::State& state, const std::string& format, bool pinned) {
  const DeviceOptions options{.row = {.batch_format = format, .pinned = pinned, .image_px = kSide},
                              .batch_size = kImages};
  const auto device = DeviceRegistry::instance().find("cuda")(options);
  const int64_t bytes = bytes_per_image(options.format(), kSide);
  BatchBuffer host(kImages, bytes, pinned ? device->accelerator()->host_allocator() : BatchBuffer::on_heap);
  time_on_device(state, kImages * bytes, [&] {
    device->copy_batch({host.images(), host.labels(), kImages, 0});
    device->take_copied();
  });
}

void copy_within(benchmark::State& state) {
  const int64_t bytes = kImages * bytes_per_image(BatchFormat::float32, kSide);
  const at::Tensor from = at::empty({bytes}, on_gpu(at::kByte)), to = at::empty_like(from);
  time_on_device(state, 2 * bytes, [&] {
    cudaMemcpyAsync(to.mutable_data_ptr(), from.const_data_ptr(), size_t(bytes), cudaMemcpyDeviceToDevice,
                    c10::cuda::getCurrentCUDAStream());
  });
}

void time_normalise(benchmark::State& state, ImageType type, at::ScalarType torch_type, bool channels_last) {
  const int64_t values = kImages * 3 * kSide * kSide;
  const at::Tensor pixels = at::empty({values}, on_gpu(at::kByte)),
                   images = at::empty({values}, on_gpu(torch_type));
  time_on_device(state, values * (1 + int64_t(images.element_size())), [&] {
    normalise(pixels.const_data_ptr<uint8_t>(), images.mutable_data_ptr(), type, channels_last, kImages,
              kSide, c10::cuda::getCurrentCUDAStream());
  });
}

// Of bfloat16 activations in NHWC order: the stem's (112 pixels, 64 channels) or a late layer's.
void time_statistics(benchmark::State& state, bool own, int channels, int64_t side) {
  const at::Tensor x = at::randn({kImages, channels, side, side}, on_gpu(at::kBFloat16))
                           .contiguous(at::MemoryFormat::ChannelsLast);
  const fused::Size size{kImages * side * side, channels};
  const at::Tensor mean = at::empty({channels}, on_gpu(at::kFloat)), inverse = at::empty_like(mean),
                   workspace = at::empty({fused::statistics_workspace(size)}, mean.options());
  time_on_device(state, int64_t(x.nbytes()), [&] {
    if (own)
      fused::statistics(x.const_data_ptr<at::BFloat16>(), mean.mutable_data_ptr<float>(),
                        inverse.mutable_data_ptr<float>(), float(kBatchNormEpsilon),
                        workspace.mutable_data_ptr<float>(), size, c10::cuda::getCurrentCUDAStream());
    else
      at::batch_norm_stats(x, kBatchNormEpsilon);
  });
}

template <class Work, class... Arguments>
void add(const std::string& name, Work work, Arguments... arguments) {
  add_benchmark(name, [=](benchmark::State& state) { work(state, arguments...); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

// Calls `work` with 0 to count - 1 at the same time, and throws what one of them has thrown.
void on_threads(size_t count, const std::function<void(size_t)>& work) {
  std::vector<std::future<void>> running;
  for (size_t i = 0; i < count; ++i) running.push_back(std::async(std::launch::async, work, i));
  for (std::future<void>& one : running) one.wait();
  for (std::future<void>& one : running) one.get();
}

// Each iteration calls work(worker, item) once for every item; each worker's thread takes the next one.
template <class Worker, class Work>
void time_threads(benchmark::State& state, std::vector<Worker>& workers, size_t items,
                  int64_t images_per_item, const Work& work) {
  double seconds = 0;
  for (auto _ : state) {
    std::atomic<size_t> next{0};
    const base::Stopwatch watch;
    on_threads(workers.size(), [&](size_t thread) {
      for (size_t item; (item = next++) < items;) work(workers[thread], item);
    });
    state.SetIterationTime(watch.s());
    seconds += watch.s();
  }
  count_images(state, int64_t(state.iterations()) * int64_t(items) * images_per_item, 0, seconds);
}

// Decodes all images once as uint8 crops.
void decode_images(benchmark::State& state, const Jpegs& jpegs, const DeviceDecoding& decoding, int threads) {
  const size_t bytes = size_t(bytes_per_image(BatchFormat::uint8, kSide));
  struct Worker {
    std::unique_ptr<Decoder> decoder;
    std::shared_ptr<void> place;
  };
  std::vector<Worker> workers;
  for (int i = 0; i < threads; ++i)
    workers.push_back(
        {decoding.make_decoder ? decoding.make_decoder() : std::make_unique<Decoder>(),
         decoding.allocate_images ? decoding.allocate_images(bytes) : BatchBuffer::on_heap(bytes)});
  time_threads(state, workers, jpegs.images.size(), 1, [&](const Worker& worker, size_t image) {
    worker.decoder->crop({jpegs.images[image]}, jpegs.augmentations[image], kSide, BatchFormat::uint8,
                         worker.place.get());
  });
  if (decoding.decoded) state.counters["left_to_cpu"] = double(decoding.decoded().cpu);
}

// The same with `threads` batches at a time, each decoded by one call; four per thread, so that all have work
// to the end.
void decode_batches(benchmark::State& state, const Jpegs& jpegs, const DeviceDecoding& decoding,
                    int threads) {
  constexpr int64_t kBatch = 64;
  const size_t bytes = size_t(kBatch * bytes_per_image(BatchFormat::uint8, kSide));
  struct Worker {
    std::unique_ptr<Decoder> headers;
    std::unique_ptr<BatchDecoder> batch;
    std::shared_ptr<void> place;
  };
  std::vector<Worker> workers;
  for (int i = 0; i < threads; ++i)
    workers.push_back({decoding.make_decoder(),
                       decoding.make_batch_decoder({kBatch, kSide, BatchFormat::uint8}),
                       decoding.allocate_images(bytes)});
  time_threads(state, workers, 4 * size_t(threads), kBatch, [&](Worker& worker, size_t batch) {
    for (int64_t place = 0; place < kBatch; ++place) {
      const size_t image = (batch * kBatch + size_t(place)) % jpegs.images.size();
      worker.headers->size(jpegs.images[image]);
      worker.batch->add(place, {jpegs.images[image]}, jpegs.augmentations[image], *worker.headers);
    }
    worker.batch->decode(static_cast<uint8_t*>(worker.place.get()));
  });
  state.counters["left_to_cpu"] = double(decoding.decoded().cpu);
  state.counters["has_jpeg_engine"] = decoding.on_engine;
}

const bool registered_micro_gpu = add_family([](const MicroOptions& options) {
  if (!gpu_is_here()) return;
  for (const bool pinned : {true, false}) {
    const char* memory = pinned ? "pinned" : "pageable";
    add(fmt::format("copy/bare/{}", memory), bare_copy, pinned);
    for (const std::string format : {"float32", "uint8"})
      add(fmt::format("copy/batch/{}/{}", format, memory), copy_batches, format, pinned);
  }
  add("copy/within", copy_within);
  for (const bool channels_last : {false, true}) {
    const char* order = channels_last ? "channels_last" : "nchw";
    add(fmt::format("normalise/float32/{}", order), time_normalise, ImageType::float32, at::kFloat,
        channels_last);
    add(fmt::format("normalise/float16/{}", order), time_normalise, ImageType::float16, at::kHalf,
        channels_last);
    add(fmt::format("normalise/bfloat16/{}", order), time_normalise, ImageType::bfloat16, at::kBFloat16,
        channels_last);
  }
  for (const bool own : {true, false}) {
    const char* whose = own ? "own" : "libtorch";
    add(fmt::format("statistics/stem/{}", whose), time_statistics, own, 64, int64_t(112));
    add(fmt::format("statistics/layer3/{}", whose), time_statistics, own, 256, int64_t(14));
  }
  if (options.data.empty() || !has_nvjpeg()) return;
  const KeptJpegs jpegs = keep_jpegs(options.data, kImages, kSide);
  for (const int threads : thread_counts()) {
    const auto add_decoder = [&](const char* name, auto decoding) {
      add(fmt::format("decode/{}/threads:{}", name, threads),
          [=](benchmark::State& state) { decode_images(state, jpegs(), decoding(), threads); });
    };
    add_decoder("cpu", [] { return DeviceDecoding{}; });
    add_decoder("nvjpeg", [] { return decode_with_nvjpeg(0); });
    add(fmt::format("decode/nvjpeg_batched/threads:{}", threads), [=](benchmark::State& state) {
      decode_batches(state, jpegs(), decode_batches_with_nvjpeg(0), threads);
    });
  }
});

}  // namespace
}  // namespace bench
