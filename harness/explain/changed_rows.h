// The rows that `explain` runs: the explained one, and it with one change each.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/contract/emulated_device.h"
#include "harness/contract/record.h"
#include "harness/plan/loading_changes.h"

namespace harness {

// A device that doesn't exist: a change of the row's own, or one calibrated from its runs.
struct MadeUpDevice {
  std::string file;  // for the row's field device_file
  EmulatedDevice device;
};

struct RowChanges {
  std::vector<ChangedRow> rows;       // id: the name of the change
  std::vector<MadeUpDevice> devices;  // of those rows
};

// Changes that are known before anything has run. device: of an emulated row, else null.
RowChanges changes_of(const Row& row, const EmulatedDevice* device, bool own_images,
                      const AxisValues& values);

// The row's devices without communication, on made-up batches, for device_changes(): ranks leave out their
// collectives, so that each is measured beside the others; of data_parallel one device. id: lone_devices.
Row lone_devices(const Row& row, const AxisValues& values);

// timed_device and faster_device, from records of lone_devices (and of made_up, for collectives). Only for
// rows on the CPU. batch_divisor: of the scale; emulated devices divide fixed costs by it.
RowChanges device_changes(const Row& row, const Records& calibration, int64_t batch_divisor,
                          const AxisValues& values);

// Rows with time added to each batch, a tenth of the unchanged step: added_host_work and added_read_time.
struct Burden {
  ChangedRow row;
  double added_ms = 0;
};
std::vector<Burden> burdens_of(const Row& row, double step_ms, const AxisValues& values);

}  // namespace harness
