#include "harness/explain/changed_rows.h"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/base/process_limits.h"
#include "harness/config/row_traits.h"
#include "harness/stats/calibration.h"

namespace harness {
namespace {

constexpr double kFaster = 4;        // links
constexpr double kAddedShare = 0.1;  // of a step, by burdens

EmulatedDevice twice_as_fast(EmulatedDevice device) {
  for (auto& [model, precisions] : device.models)
    for (auto& [precision, costs] : precisions)
      for (SourcedFigure PrecisionCosts::*cost :
           {&PrecisionCosts::forward_ms_per_image, &PrecisionCosts::forward_ms,
            &PrecisionCosts::backward_ms_per_image, &PrecisionCosts::backward_ms,
            &PrecisionCosts::optimizer_ms})
        (costs.*cost).value /= 2;
  device.memory_gb_per_s.value *= 2;
  return device;
}

// Adds changes of an emulated row that are changes of its device file.
void add_device_files(const Row& row, const EmulatedDevice& device, ChangedRows& changes,
                      std::vector<MadeUpDevice>& devices) {
  const auto add = [&](const char* name, const std::string& why_not, EmulatedDevice changed) {
    changed.name = fmt::format("{}-{}", device.name, name);
    changes.add(name, why_not, [&](Row& row) { row.device_file = changed.name; });
    if (why_not.empty()) devices.push_back({changed.name, changed});
  };
  add("faster_device", "", twice_as_fast(device));
  EmulatedDevice changed = device;
  changed.launch_us.value = 0;
  add("no_launches", "", changed);
  changed = device;
  changed.peer_gb_per_s.value *= kFaster;
  changed.collective_gb_per_s.value *= kFaster;
  add("faster_peers", row.devices == 1 ? "one device per node" : "", changed);
}

void add_cores(const Row& row, ChangedRows& changes) {
  const int64_t cores = base::process_limits().cores;
  const bool emulated = emulates_cores(row);
  changes.add("more_cores",
              !emulated && 2 * row.cpus > cores
                  ? fmt::format("the row uses {} cores, and this machine has {}", row.cpus, cores)
                  : "",
              [](Row& row) {
                row.cpus *= 2;
                row.loader_threads = std::min<int64_t>(512, 2 * row.loader_threads);
              });
  changes.add("fewer_cores", row.cpus < 2 ? "one core can't be halved" : "", [](Row& row) { row.cpus /= 2; });
}

void add_links(const Row& row, const AxisValues& values, ChangedRows& changes) {
  const std::string no_link = row.nodes == 1            ? "there is one node"
                              : row.link_rate_mbit == 0 ? "the link is not shaped: its rate is the hardware's"
                                                        : "";
  const bool emulated = !computes(row.device, values);
  changes.add("faster_link", no_link,
              [&](Row& row) { row.link_rate_mbit = emulated ? kFaster * row.link_rate_mbit : 0; });
  changes.add("slower_link", no_link, [](Row& row) { row.link_rate_mbit /= 2; });
  changes.add("no_collectives", world_size(row, values) == 1 ? "one process, no collectives" : "",
              [](Row& row) { row.collectives = false; });
}

// What other rows of a matrix would be: another format, precision, strategy or number of devices.
void add_other_rows(const Row& row, ChangedRows& changes) {
  const bool cold = row.cache == "cold";
  changes.add("no_readahead",
              !row.readahead ? "readahead is false already"
              : cold         ? ""
                             : "it is read from memory already",
              [](Row& row) { row.readahead = false; });
  changes.add("packed",
              row.storage == "files" && cold ? "" : "the row reads no single files from a cold disk",
              [](Row& row) {
                row.storage = "lmdb";
                row.readahead = false;
              });
  changes.add("sixteen_bit", row.precision == "o0" ? "" : "the row has another precision than o0 already",
              [](Row& row) { row.precision = "o2"; });
  changes.add("own_processes", row.strategy == "data_parallel" ? "" : "the row doesn't use data_parallel",
              [](Row& row) {
                row.strategy = "ddp";
                row.backend = row.device == "cpu" ? "gloo" : row.device == "cuda" ? "nccl" : "emulated";
              });
  changes.add("more_devices", row.device == "cpu" ? "more replicas would share the same cores" : "",
              [](Row& row) {
                row.devices *= 2;
                if (row.strategy == "single") row.strategy = "data_parallel";
              });
}

}  // namespace

RowChanges changes_of(const Row& row, const EmulatedDevice* device, bool own_images,
                      const AxisValues& values) {
  RowChanges all;
  ChangedRows changes(row, values);
  add_loading_changes(row, own_images, values, changes);
  add_cores(row, changes);
  add_other_rows(row, changes);
  const bool host_only = row.device == "cpu";
  changes.add("smaller_copies",
              host_only                     ? "device cpu copies nothing: it computes where the batches are"
              : row.batch_format == "uint8" ? "batch_format is uint8 already"
                                            : "",
              [](Row& row) { row.batch_format = "uint8"; });
  changes.add("no_host_work", row.host_work_ms > 0 ? "" : "the row adds none",
              [](Row& row) { row.host_work_ms = 0; });
  add_links(row, values, changes);
  if (device)
    add_device_files(row, *device, changes, all.devices);
  else if (!host_only)
    changes.add("no_launches", row.cuda_graphs ? "cuda_graphs is on already" : "",
                [](Row& row) { row.cuda_graphs = true; });
  all.rows = changes.all();
  return all;
}

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

RowChanges device_changes(const Row& row, const Records& calibration, int64_t batch_divisor,
                          const AxisValues& values) {
  RowChanges all;
  ChangedRows changes(row, values);
  std::string why_not = row.nodes > 1 ? "several nodes share this machine's cores and a link" : "";
  EmulatedDevice device;
  if (why_not.empty()) try {
      device = at_scale(calibrate(calibration, {}, row.id + "-timed", "this run"), batch_divisor);
    } catch (const std::runtime_error& error) {
      why_not = error.what();
    }
  const bool all_cores = row.cpus >= base::process_limits().cores;
  const auto add = [&](const char* name, EmulatedDevice made) {
    made.name = fmt::format("{}-{}", row.id, name);
    changes.add(name, why_not, [&](Row& row) {
      row.device = "emulated";
      row.device_file = made.name;
      // So that loader threads yield to the ranks. Ranks with emulated cores may use all of the machine's.
      if (all_cores) row.core_images_per_s = kUnlimitedCore;
      if (row.backend != "none") row.backend = "emulated";
    });
    if (why_not.empty()) all.devices.push_back({made.name, made});
  };
  add("timed_device", device);
  add("faster_device", twice_as_fast(device));
  all.rows = changes.all();
  return all;
}

std::vector<Burden> burdens_of(const Row& row, double step_ms, const AxisValues& values) {
  const double added_ms = kAddedShare * step_ms;
  ChangedRows changes(row, values);
  changes.add("added_host_work", "", [&](Row& row) { row.host_work_ms += added_ms; });
  // Loader threads wait at the same time, each for its share of the batch.
  const double images = double(row.batch) / double(row.nodes * std::max<int64_t>(1, row.loader_threads));
  const double latency_ms = added_ms / images / (emulates_cores(row) ? row.time_scale : 1);
  changes.add("added_read_time",
              row.storage == "synthetic" ? "storage synthetic reads nothing"
              : row.read_rate > 0 || row.cache == "cold"
                  ? "a delay would overlap the reads of a slow or cold storage"
                  : "",
              [&](Row& row) { row.read_latency_ms += latency_ms; });
  std::vector<Burden> burdens;
  for (const ChangedRow& changed : changes.all()) burdens.push_back({changed, added_ms});
  return burdens;
}

}  // namespace harness
