// The interface of compute devices. Each kind of device is one file in this folder.
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
#include "harness/contract/emulated_device.h"
#include "harness/contract/record_parts.h"
#include "harness/contract/row.h"

namespace bench {

struct DeviceBatch {
  // batch x 3 x side x side, channels_last if the row asks for it; float32, or the type of use_image_type()
  // if a GPU normalises the images.
  at::Tensor images;
  at::Tensor labels;  // batch, int64
};

// A recorded sequence of device work that is replayed with one call on the same memory: a CUDA graph. Memory
// that the work allocates belongs to the recording and is freed with it.
class Recording {
 public:
  virtual ~Recording() = default;
  // Calls `work`, which must not synchronise with the device. Records the work without executing it.
  virtual void record(const std::function<void()>& work) = 0;
  // Recordings of one device must be replayed in recording order.
  virtual void replay() = 0;
};

// Additional interface of a device with its own memory and an asynchronous work queue.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  // The device of replica `number` (0: this device) in a process with several devices. A thread must call
  // enter() before it works on that replica.
  virtual at::Device of_replica(int64_t number) const = 0;
  virtual void enter(int64_t number) const = 0;
  // Exchange between replicas on different devices (the model itself is the first); null: use
  // make_plain_exchange().
  virtual std::unique_ptr<ReplicaExchange> make_exchange(const std::vector<Model*>& models) const = 0;
  // Allocator for host batches (pinned memory); empty: any memory.
  virtual HostAllocator host_allocator() const = 0;
  // Decodes the loader's JPEG files into batches in device memory, with the row's `decoder`. Throws if this
  // build can't.
  virtual DeviceDecoding decoding(const std::string& decoder) = 0;
  // Sets the input type of the network's first convolution; a device that normalises uint8 pixels outputs
  // this type. Call before the first batch.
  virtual void use_image_type(at::ScalarType type) = 0;
  // Called once for the model and for each replica, after it has been moved to the device.
  virtual void prepare(Model&) const {}
  // A clock with room for `marks` phases.
  virtual std::unique_ptr<DeviceClock> make_clock(size_t marks) const = 0;
  // Samples the load of the replicas' devices every period_ms; null if it can't be read.
  virtual std::unique_ptr<DeviceSampler> make_sampler(double period_ms, int64_t replicas) const = 0;
};

// Called from the training thread.
class Device {
 public:
  virtual ~Device() = default;
  virtual at::Device torch_device() const = 0;
  virtual std::string name() const = 0;  // e.g. the processor's
  // The host has this batch from the loader: called in phase load, before copy_batch(). It may have waited.
  virtual void batch_arrived(const Batch&) {}
  // Copies a batch into the device's buffers, which a later call overwrites, and normalises uint8 pixels. May
  // return before the copy is complete: take_copied() returns the host batches that are free.
  virtual DeviceBatch copy_batch(const Batch& batch) = 0;
  // A host batch whose copy is complete and that can be released; it may be the one before the last. Call
  // once after each copy_batch(), and after synchronize() until it returns none.
  virtual std::optional<Batch> take_copied() = 0;

  // The defaults below are for a synchronous device. Waits for the last copy_batch(), so that take_copied()
  // returns its batch; for loaders with one buffer.
  virtual void finish_copy() {}
  virtual void synchronize() {}  // waits for all enqueued work
  virtual void empty_cache() {}  // returns memory that its allocator keeps free
  // Copies values to host memory; waits for the device.
  virtual at::Tensor read(const at::Tensor& values) { return values.cpu(); }
  // Ranks have just left a barrier, and what came before is not timed. Called before the first batch,
  // the first timed one and each measurement of a ceiling.
  virtual void timing_begins() {}
  virtual void batch_ended() {}  // after each batch
  // A new, empty recording; null if this device doesn't support recording.
  virtual std::unique_ptr<Recording> make_recording() { return nullptr; }
  // For the record: what differs from the row's configuration.
  virtual std::vector<std::string> notes() const { return {}; }
  // For the record: memory figures, settings and the like.
  virtual nlohmann::json describe() const { return nlohmann::json::object(); }
  // False: tensors on it hold no values, so that there is neither a loss nor an accuracy nor a gradient to
  // check.
  virtual bool computes() const { return true; }
  // An emulated device's operations take this many times as long as those of the device that it stands for.
  virtual double time_stretch() const { return 1; }
  // After the slice of `batches` timed batches in `total_s`: why its figures mean nothing, or that they do.
  virtual std::vector<harness::RecordCheck> checks(double /*total_s*/, int64_t /*batches*/) const {
    return {};
  }
  // Null for a synchronous device that works in host memory (timed by the host's clock).
  virtual Accelerator* accelerator() { return nullptr; }
};

struct DeviceOptions {
  harness::Row row = {};   // a copy: the device outlives what it was made from
  int64_t batch_size = 0;  // images at once on this device
  int64_t local_rank = 0;  // rank number on this machine
  int64_t ranks_of_node = 1;
  int64_t ranks_of_machine = 0;       // that share its cores; 0: a GPU leaves the process where it runs
  std::optional<int64_t> cores = {};  // of these ranks together, where they choose them (harness::Job)
  int64_t replicas = 1;               // devices of this process
  const harness::Emulation* emulation = nullptr;  // of device emulated; outlives the device

  BatchFormat format() const { return batch_format(row.batch_format); }
  // Host batches are in pinned memory; an external loader's are in its ring.
  bool pinned() const { return row.pinned && !harness::has_external_loader(row); }
};

using DeviceFactory = std::function<std::unique_ptr<Device>(const DeviceOptions&)>;
using DeviceRegistry = Registry<DeviceFactory>;

}  // namespace bench
