// How long operations of an emulated device take: its device file, brought to the run's scale.
//
// A duration is that of the true batch, times `time_scale`, divided by `batch_divisor`; fixed costs and those
// that depend on the size of the weights alone are scaled in the same way, so that all keep their
// proportions.
#pragma once
#include <string>

#include "bench/train/timeline/timelines.h"
#include "harness/contract/emulated_device.h"

namespace bench {

class Durations {
 public:
  // Throws std::invalid_argument where the device file lacks the model or the precision.
  // copying: devices of the node that copy their batches from the host at the same time.
  Durations(const harness::Emulation& emulation, const std::string& precision, const std::string& model,
            int64_t copying);

  // Kernels of all layers together, for so many of this run's images.
  Nanoseconds forward(int64_t images) const;
  Nanoseconds backward(int64_t images) const;
  Nanoseconds optimizer() const;  // all weights once
  // A kernel that reads and writes so many bytes of weights, gradients or the like.
  Nanoseconds element_wise(double bytes) const;
  // Copies of this run's images or of what is computed for them: as many bytes per image as in the true run.
  Nanoseconds host_to_device(double bytes, bool pinned) const;
  Nanoseconds device_to_host(double bytes) const;
  Nanoseconds images_between_devices(double bytes) const;
  // A collective on weights or gradients: bytes that cross each link, and a latency for each of 2 (n - 1)
  // hops.
  Nanoseconds collective(double bytes, int ranks) const;
  // Copies of weights or gradients.
  Nanoseconds weights_between_devices(double bytes) const;
  Nanoseconds launch() const;  // host time of one kernel launch

 private:
  Nanoseconds scaled(double true_ms) const;
  const harness::EmulatedDevice device_;
  const harness::PrecisionCosts costs_;
  const double divisor_, scale_;
  const int64_t copying_;
};

}  // namespace bench
