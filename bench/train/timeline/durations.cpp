// Multiplies bytes and image counts by the device file's rates, and refuses unusably long durations.
#include "bench/train/timeline/durations.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace bench {

using harness::transfer_ms;

static harness::PrecisionCosts costs_of(const harness::EmulatedDevice& device, const std::string& precision,
                                        const std::string& model) {
  const auto* costs = harness::find_costs(device, model, precision);
  if (costs) return *costs;
  throw std::invalid_argument(
      fmt::format("device {}: has no figures for model {} with precision {}; add them to its file",
                  device.name, model, precision));
}

Durations::Durations(const harness::Emulation& emulation, const std::string& precision,
                     const std::string& model, int64_t copying)
    : device_(emulation.device),
      costs_(costs_of(emulation.device, precision, model)),
      divisor_(double(emulation.batch_divisor)),
      scale_(emulation.stretch()),
      copying_(copying) {}

Nanoseconds Durations::scaled(double true_ms) const {
  constexpr double kLongest_ms =
      1e9;  // 12 days; instants are sums of durations and have to fit into their type
  const double ms = true_ms * scale_;
  if (!(ms <= kLongest_ms))
    throw std::invalid_argument(fmt::format(
        "device {}: one operation would take {:.3g} s; expected at most {:.0g} s: check the device file, "
        "time_scale and batch",
        device_.name, ms * 1e-3, kLongest_ms * 1e-3));
  return std::llround(ms * 1e6);
}

Nanoseconds Durations::forward(int64_t images) const {
  return scaled(costs_.forward_ms.value + costs_.forward_ms_per_image.value * double(images) * divisor_);
}
Nanoseconds Durations::backward(int64_t images) const {
  return scaled(costs_.backward_ms.value + costs_.backward_ms_per_image.value * double(images) * divisor_);
}
Nanoseconds Durations::optimizer() const { return scaled(costs_.optimizer_ms.value); }
Nanoseconds Durations::element_wise(double bytes) const {
  return scaled(bytes / device_.memory_gb_per_s.value * 1e-6);
}
Nanoseconds Durations::host_to_device(double bytes, bool pinned) const {
  return scaled(harness::h2d_ms(device_, bytes * divisor_, pinned, copying_));
}
Nanoseconds Durations::device_to_host(double bytes) const {
  return scaled(transfer_ms(bytes * divisor_, device_.d2h_gb_per_s, device_.d2h_us));
}
Nanoseconds Durations::images_between_devices(double bytes) const {
  return scaled(transfer_ms(bytes * divisor_, device_.peer_gb_per_s, device_.peer_us));
}
Nanoseconds Durations::weights_between_devices(double bytes) const {
  return scaled(transfer_ms(bytes, device_.collective_gb_per_s, device_.collective_us));
}
Nanoseconds Durations::collective(double bytes, int ranks) const {
  return scaled(2 * (ranks - 1) * device_.collective_us.value * 1e-3 +
                bytes / device_.collective_gb_per_s.value * 1e-6);
}
Nanoseconds Durations::launch() const { return scaled(device_.launch_us.value * 1e-3); }

}  // namespace bench
