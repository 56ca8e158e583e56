// What computes. One kind of device is one file in this folder.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/loading/loader/loader.h"
#include "bench/registry/registry.h"
#include "bench/train/clock/device_clock.h"
#include "bench/train/device/replica_exchange.h"
#include "bench/train/gpu/device_sampler.h"
#include "harness/contract/row.h"

namespace bench {

struct DeviceBatch {
  // Batch x 3 x side x side, in channels_last memory if the loader's format is that; float32, or what
  // use_image_type() was told where a GPU normalises.
  at::Tensor images;
  at::Tensor labels;  // int64
};

// Work that was given to a device once and is started again with a single call, on the same memory: a CUDA
// graph. What the work allocates stays its own until the recording ends.
class Recording {
 public:
  virtual ~Recording() = default;
  // Calls `work`, which must not wait for the device. Nothing has been computed when it returns.
  virtual void record(const std::function<void()>& work) = 0;
  // Recordings of one device are replayed in the order in which they were recorded.
  virtual void replay() = 0;
};

// What a device does besides that has memory, and a queue of work, of its own.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  // Where replica `number` of a process with several devices lives, 0 being the device itself; and what a
  // thread does first that will work on it.
  virtual at::Device of_replica(int64_t number) const = 0;
  virtual void enter(int64_t number) const = 0;
  // Between replicas that live on devices of their own, the model itself first; null: plain copies do.
  virtual std::unique_ptr<ReplicaExchange> make_exchange(const std::vector<ResNet*>& models) const = 0;
  // Memory that host batches should lie in; empty: any.
  virtual HostAllocator host_allocator() const = 0;
  // Decodes the loader's JPEG files into batches whose images lie in the device's memory; empty: it can't.
  virtual DeviceDecoding decoding() = 0;
  // The type into which the network's first convolution turns its images, said before the first batch: a
  // device that normalises pixels may deliver them in it.
  virtual void use_image_type(at::ScalarType type) = 0;
  // For as many batches.
  virtual std::unique_ptr<DeviceClock> make_clock(int64_t batches) const = 0;
  // Reads every so often how busy the devices of so many replicas are; null: nothing can be read.
  virtual std::unique_ptr<DeviceSampler> make_sampler(double period_ms, int64_t replicas) const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual at::Device torch_device() const = 0;
  virtual std::string name() const = 0;  // e.g. the processor's
  // Copies a batch into the device's own buffers, which a later call overwrites, and normalises uint8
  // pixels. The copy may still be under way when it returns: take_copied() says when the host batch is free.
  virtual DeviceBatch copy_batch(const Batch& batch) = 0;
  // A host batch that has been copied and may be released: asked once after each copy_batch(), and until it
  // has none after synchronize(). It may be the one before the last, whose copy is then still under way.
  virtual std::optional<Batch> take_copied() = 0;

  // The rest suits a device that has done its work when a call returns.
  // Waits for the last copy_batch(), so that take_copied() has its batch: for a loader with no other buffer.
  virtual void finish_copy() {}
  virtual void synchronize() {}  // waits for everything given to the device
  // Values of the device's in the host's memory, for the host to read: waits for the device.
  virtual at::Tensor read(const at::Tensor& values) { return values.cpu(); }
  // A piece of the device's work to be recorded; null: this device can't.
  virtual std::unique_ptr<Recording> make_recording() { return nullptr; }
  // For the record: memory figures, settings and the like.
  virtual nlohmann::json describe() const { return nlohmann::json::object(); }
  // Null: it computes in the host's memory while the host waits, and the host's clock is its clock.
  virtual Accelerator* accelerator() { return nullptr; }
};

struct DeviceOptions {
  int64_t local_rank = 0;  // among the ranks of this machine
  int64_t batch_size = 0;
  int64_t image_px = 0;
  int64_t intra_op_threads = 1;
  BatchFormat format = BatchFormat::float32;  // of the host batches
  bool pinned = true;                         // host batches in pinned memory
  bool non_blocking = true;                   // the host doesn't wait for copies
  bool cudnn_benchmark = true;                // cuDNN tries its algorithms and keeps the fastest
  bool tf32 = true;                           // of convolutions; products stay float32, as in PyTorch
  bool channels_last = false;                 // images are handed out so, whatever the host's format
  bool prefetch = false;                      // copies have a stream of their own
  bool cuda_graphs = false;                   // there will be recordings
};

using DeviceFactory = std::function<std::unique_ptr<Device>(const DeviceOptions&)>;
using DeviceRegistry = Registry<DeviceFactory>;

}  // namespace bench
