// The values of a row's axes (a storage, a precision, ...) as `train_slice --values` prints them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

// Properties of a value that the harness plans with. For an absent one, the caller's default holds.
struct Traits {
  std::optional<bool> process_per_device = {}, several_devices = {}, started_by_mpi = {}, packed = {},
                      transient = {}, stream = {};
  std::string service = {};
  std::optional<bool> page_cache = {};
  std::string device = {};
  std::optional<int64_t> count = {};
  std::optional<bool> nvjpeg = {}, computes = {}, batch_norm = {};
  std::optional<int64_t> patch_px = {}, stages = {};

  KEYS(Traits, WHEN_SET(process_per_device, "each device has a process"),
       WHEN_SET(several_devices, "uses more than one"),
       WHEN_SET(started_by_mpi, "ranks find one another through MPI"),
       WHEN_SET(packed, "reads a copy that `make_dataset pack` makes"),
       WHEN_SET(transient, "that copy is in memory"),
       WHEN_SET(stream, "is read in the order in which it is stored"),
       WHEN_SET(service, "how an object store is reached: http, mount or mount_cached"),
       WHEN_SET(page_cache, "the kernel keeps what was read"),
       WHEN_SET(device, "kind of device that it needs"), WHEN_SET(count, "devices of this machine"),
       WHEN_SET(nvjpeg, "whether this build has nvJPEG"),
       WHEN_SET(computes, "false: an emulated device, whose kernels are timed waits"),
       WHEN_SET(batch_norm, "the network has batch-norm layers"),
       WHEN_SET(patch_px, "the network divides images into patches of this side"),
       WHEN_SET(stages, "devices among which each copy of the network is divided"));
};

struct AxisValue {
  std::string name, summary;
  Traits traits;
  std::string missing;
  KEYS(AxisValue, REQUIRED(name, "as the row's field names it"),
       KEY(summary, "one line for `run_matrix list --values`"),
       KEY(traits, "facts that the harness plans with"),
       KEY(missing, "why this build can't run it, or empty"));
};

// Values by axis. If it is empty or lacks an axis, the values of that axis are not checked.
using AxisValues = std::map<std::string, std::vector<AxisValue>>;

}  // namespace harness
