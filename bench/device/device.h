// What computes. One kind of device is one file in this folder.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>

#include "bench/loader/loader.h"
#include "bench/registry.h"
#include "harness/row.h"

namespace bench {

struct DeviceBatch {
  at::Tensor
      images;  // float32, batch x 3 x side x side; in channels_last memory if the loader's format is that
  at::Tensor labels;  // int64
};

class Device {
 public:
  virtual ~Device() = default;
  virtual at::Device torch_device() const = 0;
  virtual std::string name() const = 0;  // e.g. the processor's
  // Copies a host batch into the device's own buffers, which the next call overwrites, and normalises uint8
  // pixels. When it returns, the host batch may be released.
  virtual DeviceBatch copy_batch(const Batch& batch) = 0;
  virtual void synchronize() {}  // waits for everything given to the device
};

struct DeviceOptions {
  int64_t local_rank = 0;
  int64_t batch_size = 0;
  int64_t image_px = 0;
  int64_t intra_op_threads = 1;
  BatchFormat format = BatchFormat::float32;  // of the host batches
};

using DeviceFactory = std::function<std::unique_ptr<Device>(const DeviceOptions&)>;
using DeviceRegistry = Registry<DeviceFactory>;

}  // namespace bench
