// Calibrates a device file from the row's own runs, and sizes added delays by the measured step time.
#include <stdexcept>

#include "harness/base/process_limits.h"
#include "harness/config/row_traits.h"
#include "harness/explain/explained_row.h"
#include "harness/stats/calibration.h"

namespace harness {

constexpr double kAddedShare = 0.1;  // of a step, by burdens

Row lone_devices(const Row& row, const AxisValues& values) {
  Row alone = row;
  alone.id = "lone_devices";
  alone.title = "made-up batches, no communication: to calibrate timed devices";
  alone.storage = "synthetic";
  alone.order = "shuffled";
  alone.cache = "as_is";
  alone.read_rate = alone.read_latency_ms = alone.store_rate_mbit = alone.store_latency_ms = 0;
  alone.host_work_ms = 0;
  alone.collectives = world_size(row, values) == 1 || row.strategy == "horovod";
  if (!alone.collectives) return alone;
  alone.batch = images_per_device(row);
  alone.nodes = alone.devices = 1;
  alone.strategy = "single";
  alone.backend = alone.link = "none";
  alone.link_rate_mbit = 0;
  alone.sync_bn = false;
  return alone;
}

// The device as a file for the scale: durations.h divides what does not grow with the batch by batch_divisor.
static EmulatedDevice at_scale(EmulatedDevice device, int64_t batch_divisor) {
  const double divisor = double(batch_divisor);
  for (auto& [model, precisions] : device.models)
    for (auto& [precision, costs] : precisions)
      for (SourcedFigure PrecisionCosts::*fixed :
           {&PrecisionCosts::forward_ms, &PrecisionCosts::backward_ms, &PrecisionCosts::optimizer_ms})
        (costs.*fixed).value *= divisor;
  device.collective_gb_per_s.value /= divisor;
  device.memory_gb_per_s.value /= divisor;
  return device;
}

std::vector<ChangedRow> device_changes(const Row& row, const Records& calibration, int64_t batch_divisor,
                                       const AxisValues& values) {
  std::string why_not = row.nodes > 1 ? "several nodes share this machine's cores and a link" : "";
  EmulatedDevice device;
  device.name = row.id;
  if (why_not.empty()) try {
      device = at_scale(calibrate(calibration, {}, row.id, "this run"), batch_divisor);
    } catch (const std::runtime_error& error) {
      why_not = error.what();
    }
  const bool all_cores = row.cpus >= base::process_limits().cores;
  const auto timed = [&](const char* name, const EmulatedDevice& made) {
    return on_device(row, name, why_not, values, made, [&](Row& other) {
      other.device = "emulated";
      // So that loader threads yield to the ranks. Ranks with emulated cores may use all of the machine's.
      if (all_cores) other.core_images_per_s = kUnlimitedCore;
      if (other.backend != "none") other.backend = "emulated";
    });
  };
  EmulatedDevice faster = device;
  make_twice_as_fast(faster);
  return {timed("timed_device", device), timed("faster_device", faster)};
}

std::vector<ChangedRow> burdens_of(const Row& row, double step_ms, const AxisValues& values) {
  const double added_ms = kAddedShare * step_ms;
  // Loader threads wait at the same time, each for its share of the batch.
  const double images = double(row.batch) / double(row.nodes * std::max<int64_t>(1, row.loader_threads));
  const double latency_ms = added_ms / images / (emulates_cores(row) ? row.time_scale : 1);
  const std::string no_reading = row.storage == "synthetic" ? "storage synthetic reads nothing"
                                 : row.read_rate > 0 || row.cache == "cold"
                                     ? "a delay would overlap the reads of a slow or cold storage"
                                     : "";
  std::vector<ChangedRow> burdens = {
      changed_row(row, "added_host_work", "", values, [&](Row& it) { it.host_work_ms += added_ms; }),
      changed_row(row, "added_read_time", no_reading, values,
                  [&](Row& it) { it.read_latency_ms += latency_ms; })};
  for (ChangedRow& burden : burdens) burden.added_ms = added_ms;
  return burdens;
}

}  // namespace harness
