// The speed of emulated devices, from their device file.
#pragma once
#include "harness/contract/emulated_device.h"

namespace harness {

// Milliseconds in which a device computes so many images: forward, backward and the optimizer's step.
inline double step_ms(const PrecisionCosts& costs, double images) {
  return images * (costs.forward_ms_per_image.value + costs.backward_ms_per_image.value) +
         costs.forward_ms.value + costs.backward_ms.value + costs.optimizer_ms.value;
}

// Images per second at the article's batch of one device, over which its fixed costs are spread.
inline double device_images_per_s(const PrecisionCosts& costs) {
  constexpr double kDeviceBatch = 256;
  return 1e3 * kDeviceBatch / step_ms(costs, kDeviceBatch);
}

}  // namespace harness
