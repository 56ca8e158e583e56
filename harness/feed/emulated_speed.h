// The speed of emulated devices, from their device file: of one device, and of one that is as fast as
// several.
#pragma once
#include "harness/contract/emulated_device.h"
#include "harness/contract/row.h"

namespace harness {

// The batch of one device, at which its fixed costs are spread over images: the article's.
inline constexpr int64_t kDeviceBatch = 256;

// Images per second that a device computes: forward, backward and the optimizer's step at kDeviceBatch.
double device_images_per_s(const PrecisionCosts& costs);

// The field time_scale with which the emulated device computes row.batch images in the time that `devices`
// devices together need for as many. `divisor`: batch_divisor of the scale.
double time_scale_for(double devices, const PrecisionCosts& costs, const Row& row, int64_t divisor);

}  // namespace harness
