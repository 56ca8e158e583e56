// Tests with a few training steps on random images whether a row's share of a batch fits into its device's
// memory.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/contract/row.h"

namespace bench {

// Whether an error message means out of memory. Needed because LibTorch's CPU allocator, cuBLAS and cuDNN
// have no separate exception type for it.
bool tells_of_memory(std::string_view error);

// Returns {"images": images per device, "fits": whether training on them fits into its memory}.
nlohmann::json probe_memory(const harness::Row& row);

}  // namespace bench
