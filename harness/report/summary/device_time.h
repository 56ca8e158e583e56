// Device time of a record's phases, on devices that run asynchronously to the host.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/experiment/policy/policy.h"

namespace harness {

// Sum over these phases of the mean ms per batch and rank; nullopt if there are no samples of them.
std::optional<double> mean_ms(const Samples& samples, const std::vector<std::string>& phases);
// The same of the device's times.
std::optional<double> device_ms(const Record& record, const std::vector<std::string>& phases);

// Of a device that runs behind the host; ms per batch, means over ranks.
struct DeviceSteps {
  double computing = 0;  // the device's phases forward, loss, backward, step, gaps between kernels included
  // The host's time for launching these: its phases forward, backward, step. Its phase `loss` is left out,
  // because there it waits for the device.
  double launching = 0;

  // The device goes no faster than the host launches: if it did the work while the host was ahead, the host
  // would have to wait for it, and its launching would be shorter than the device's computing.
  bool bound_by_launches() const { return computing > 0 && launching >= kLaunchBound * computing; }
};
// Nullopt without times of a device.
std::optional<DeviceSteps> device_steps(const Record& record);

}  // namespace harness
