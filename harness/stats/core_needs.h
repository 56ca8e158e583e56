// How many cores a row needs so that none is shared.
#pragma once
#include "harness/contract/row.h"

namespace harness {

// Cores of one node with which each loader thread, and on a processor each compute thread of each replica or
// rank, has its own. `on_processor`: the device is the processor itself.
inline int64_t cores_needed(const Row& row, bool on_processor) {
  return (on_processor ? row.devices * row.intra_op_threads : 0) + row.loader_threads;
}

}  // namespace harness
