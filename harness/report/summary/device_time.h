// Device time of a record's phases, on devices that run asynchronously to the host, and the energy for an
// image.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/experiment/policy/policy.h"

namespace harness {

// Sum over these phases of the mean ms per batch and rank (means add up, medians don't), over figures that
// aren't NaN; nullopt if there are none.
std::optional<double> mean_ms(const Samples& samples, const std::vector<std::string>& phases);
// Whether the device has times of its own for the phase. Its host then waits for it in other phases.
bool has_device_times(const Record& record, const std::string& phase);
// mean_ms() of the device's times.
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

struct Energy {
  double joules_per_image = 0;
  bool measured = false;  // by NVML, GPUs only; otherwise from the price file's watts
};

// Energy of all GPUs over the timed batches / their images, if every rank of every run has it and no hardware
// is emulated; the median over the runs.
std::optional<double> measured_joules_per_image(const RecordList& runs);

// By measured_joules_per_image(), else stated: watts of the row's cores and devices / images
// per second (of emulated devices in their own time); a processor's row needs watts_per_core, others
// watts_per_gpu. `devices`: number of them that the stated power is for. nullopt: unknown.
std::optional<Energy> energy_of(const RecordList& runs, const Prices& prices, double images_per_second,
                                int64_t devices);

}  // namespace harness
