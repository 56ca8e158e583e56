// Whether a row's share of a batch fits into its device's memory, tried with a few training steps on made-up
// images.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/contract/row.h"

namespace bench {

// Whether an error says that memory was lacking: LibTorch's allocators throw no type of their own on a CPU,
// and cuBLAS and cuDNN only a status of theirs.
bool tells_of_memory(std::string_view error);

// {"images", "fits"}: the images of one device, and whether its memory held what training on them takes.
nlohmann::json probe_memory(const harness::Row& row);

}  // namespace bench
