// Properties of a row that follow from the traits of its values (`train_slice --values`).
#pragma once
#include <string>

#include "harness/config/settings.h"
#include "harness/contract/row.h"

namespace harness {

// Number of processes of a row, and on each of its nodes.
int64_t world_size(const Row& row, const AxisValues& values);
int64_t ranks_per_node(const Row& row, const AxisValues& values);

// Whether the device computes. If not, it is emulated: its kernels and copies are timed waits from a device
// file, so that there is no loss and no accuracy.
bool computes(const std::string& device, const AxisValues& values);

// Whether the ranks connect through MPI, instead of MASTER_ADDR and MASTER_PORT.
bool started_by_mpi(const Row& row, const AxisValues& values);

// How a storage accesses an object store, its trait "service": "http", "mount" or "mount_cached"; empty: it
// doesn't.
std::string service_of(const AxisValues& values, const std::string& storage);

// Whether the kernel caches what was read from the storage, so that it can be read cold and warm.
bool has_page_cache(const AxisValues& values, const std::string& storage);

// Whether the link to the object store is shaped; ranks and store then run in two network namespaces.
bool shapes_store(const Row& row);

// Cores of one node with which each loader thread, and on a processor each compute thread of each replica or
// rank, has its own. `on_processor`: the device is the processor itself.
inline int64_t cores_needed(const Row& row, bool on_processor) {
  return (on_processor ? row.devices * row.intra_op_threads : 0) + row.loader_threads;
}

}  // namespace harness
