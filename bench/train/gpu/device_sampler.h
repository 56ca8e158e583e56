// Samples a device's load during the training loop.
#pragma once
#include "bench/train/gpu/gpu_readings.h"

namespace bench {

// Samples in a separate thread, so that the timed batches don't wait for readings.
class DeviceSampler {
 public:
  virtual ~DeviceSampler() = default;
  virtual void start() = 0;        // when the timed window starts
  virtual GpuReadings stop() = 0;  // once, after the window's end
};

}  // namespace bench
