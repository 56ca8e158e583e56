// Readings of a device's load beside the training loop.
#pragma once
#include "bench/train/gpu/gpu_readings.h"

namespace bench {

// A thread of its own takes them: neither call waits for a reading while batches are timed.
class DeviceSampler {
 public:
  virtual ~DeviceSampler() = default;
  virtual void start() = 0;        // where the timed window opens
  virtual GpuReadings stop() = 0;  // once, where it has closed
};

}  // namespace bench
