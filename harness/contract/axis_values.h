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

  static constexpr auto keys() {
    return known_keys(
        WhenSet{"process_per_device", &Traits::process_per_device, "each device has a process"},
        WhenSet{"several_devices", &Traits::several_devices, "uses more than one"},
        WhenSet{"started_by_mpi", &Traits::started_by_mpi, "ranks find one another through MPI"},
        WhenSet{"packed", &Traits::packed, "reads a copy that `make_dataset pack` makes"},
        WhenSet{"transient", &Traits::transient, "that copy is in memory"},
        WhenSet{"stream", &Traits::stream, "is read in the order in which it is stored"},
        WhenSet{"service", &Traits::service, "how an object store is reached: http, mount or mount_cached"},
        WhenSet{"page_cache", &Traits::page_cache, "the kernel keeps what was read"},
        WhenSet{"device", &Traits::device, "kind of device that it needs"},
        WhenSet{"count", &Traits::count, "devices of this machine"},
        WhenSet{"nvjpeg", &Traits::nvjpeg, "whether this build has nvJPEG"},
        WhenSet{"computes", &Traits::computes, "false: an emulated device, whose kernels are timed waits"},
        WhenSet{"batch_norm", &Traits::batch_norm, "the network has batch-norm layers"},
        WhenSet{"patch_px", &Traits::patch_px, "the network divides images into patches of this side"},
        WhenSet{"stages", &Traits::stages, "devices among which each copy of the network is divided"});
  }
};

struct AxisValue {
  std::string name, summary;
  Traits traits;
  std::string missing;
  static constexpr auto keys() {
    return known_keys(Required{"name", &AxisValue::name, "as the row's field names it"},
                      Key{"summary", &AxisValue::summary, "one line for `run_matrix list --values`"},
                      Key{"traits", &AxisValue::traits, "facts that the harness plans with"},
                      Key{"missing", &AxisValue::missing, "why this build can't run it, or empty"});
  }
};

// Values by axis. If it is empty or lacks an axis, the values of that axis are not checked.
using AxisValues = std::map<std::string, std::vector<AxisValue>>;

}  // namespace harness
