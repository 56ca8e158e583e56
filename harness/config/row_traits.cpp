// Looks up traits of the row's values, with a default for those that the build doesn't state.
#include "harness/config/row_traits.h"

namespace harness {

int64_t world_size(const Row& row, const AxisValues& values) {
  return trait(values, "strategy", row.strategy, &Traits::process_per_device, false) ? row.nodes * row.devices
                                                                                     : row.nodes;
}

int64_t ranks_per_node(const Row& row, const AxisValues& values) {
  return world_size(row, values) / row.nodes;
}

bool computes(const std::string& device, const AxisValues& values) {
  return trait(values, "device", device, &Traits::computes, device != "emulated");
}

bool started_by_mpi(const Row& row, const AxisValues& values) {
  return trait(values, "backend", row.backend, &Traits::started_by_mpi, false);
}

std::string service_of(const AxisValues& values, const std::string& storage) {
  const AxisValue* value = find_value(values, "storage", storage);
  return value ? value->traits.service : "";
}

bool has_page_cache(const AxisValues& values, const std::string& storage) {
  return trait(values, "storage", storage, &Traits::page_cache, storage != "tmpfs" && storage != "synthetic");
}

bool shapes_store(const Row& row) { return row.store_rate_mbit > 0 || row.store_latency_ms > 0; }

}  // namespace harness
