// What train_slice measures instead of training a row: --canaries, --probe-decoding, --probe-memory.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/contract/job.h"

namespace bench {

// Canaries: small fixed workloads, independent of changes to this suite, to distinguish a slower machine from
// slower software. Medians of 15 rounds in ms, about two seconds in all, with one compute thread:
//   gemm_ms        a product of two 512 x 512 float32 matrices
//   memcpy_ms      a copy of 64 MiB
//   decode_ms      one 512 x 512 JPEG at quality 90 into 64 x 64 pixels
//   all_reduce_ms  4 MiB of float32 between two threads over Gloo and the loopback interface
// Throws std::runtime_error if one of them can't run.
nlohmann::json run_canaries();

// How many images of ImageNet's usual size (500 x 375 pixels, 115 kB, made up) all cores of this process crop
// and resize to image_px in a second, as loader threads do: {"images_per_s": N}. Takes about two seconds.
nlohmann::json probe_decoding(int image_px);

// Tests with a few training steps on random images whether a row's share of one device fits into the device's
// memory, on the processor into the job's memory_cap_bytes.
harness::MemoryProbe probe_memory(const harness::Job& job);
// Whether an error message means out of memory. Needed because LibTorch's CPU allocator, cuBLAS and cuDNN
// have no separate exception type for it.
bool tells_of_memory(std::string_view error);

}  // namespace bench
