// Changes of `explain` that follow from runs of the row: devices timed as they were measured, and burdens.
#pragma once
#include <vector>

#include "harness/experiment/intervention.h"

namespace harness {

// The row's devices without communication, on made-up batches, for device_changes(): ranks leave out their
// collectives, so that each is measured beside the others; of data_parallel one device. id: lone_devices.
Row lone_devices(const Row& row, const AxisValues& values);

// timed_device and faster_device, from records of lone_devices (and of made_up, for collectives). Only for
// rows on the CPU. batch_divisor: of the scale; emulated devices divide fixed costs by it.
std::vector<ChangedRow> device_changes(const Row& row, const Records& calibration, int64_t batch_divisor,
                                       const AxisValues& values);

// Rows with time added to each batch, a tenth of the unchanged step: added_host_work and added_read_time.
struct Burden {
  ChangedRow row;
  double added_ms = 0;
};
std::vector<Burden> burdens_of(const Row& row, double step_ms, const AxisValues& values);

}  // namespace harness
