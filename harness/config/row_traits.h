// What a row needs, by what its values say of themselves (their traits in `train_slice --values`).
#pragma once
#include <string>

#include "harness/config/settings.h"

namespace harness {

// Processes of a row, and of one of its nodes.
int64_t world_size(const Row& row, const AxisValues& values);
int64_t ranks_per_node(const Row& row, const AxisValues& values);

// Ranks of this row find one another through MPI; others through MASTER_ADDR and MASTER_PORT.
bool started_by_mpi(const Row& row, const AxisValues& values);

// How a storage reaches an object store, its trait "service": "http", "mount" or "mount_cached"; empty: not
// at all.
std::string service_of(const AxisValues& values, const std::string& storage);

// The ranks must run in a network namespace next to the object store's, because the link to it is shaped.
bool shapes_store(const Row& row);

}  // namespace harness
