// Tests with a few training steps on random images whether a row's share of a batch fits into its device's
// memory.
#pragma once
#include <string_view>

#include "harness/contract/job.h"

namespace bench {

// Whether an error message means out of memory. Needed because LibTorch's CPU allocator, cuBLAS and cuDNN
// have no separate exception type for it.
bool tells_of_memory(std::string_view error);

// Tries the row's share of one device.
harness::MemoryProbe probe_memory(const harness::Row& row);

}  // namespace bench
