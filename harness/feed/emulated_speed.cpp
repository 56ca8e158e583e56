// Converts a device file's times per image to images per second, and device numbers to time scales.
#include "harness/feed/emulated_speed.h"

namespace harness {

static double per_image_ms(const PrecisionCosts& costs) {
  return costs.forward_ms_per_image.value + costs.backward_ms_per_image.value;
}
static double fixed_ms(const PrecisionCosts& costs) {
  return costs.forward_ms.value + costs.backward_ms.value + costs.optimizer_ms.value;
}

double device_images_per_s(const PrecisionCosts& costs) {
  return 1e3 / (per_image_ms(costs) + fixed_ms(costs) / double(kDeviceBatch));
}

double time_scale_for(double devices, const PrecisionCosts& costs, const Row& row, int64_t divisor) {
  const double wanted_ms = 1e3 * double(row.batch) / (device_images_per_s(costs) * devices);
  // The device's time with time_scale 1 (bench/train/timeline/durations.h).
  const double unscaled_ms = double(row.batch) * per_image_ms(costs) + fixed_ms(costs) / double(divisor);
  return wanted_ms / unscaled_ms;
}

}  // namespace harness
