// Canaries: small fixed workloads, independent of changes to this suite, to distinguish a slower machine from
// slower software.
#pragma once
#include <nlohmann/json.hpp>

namespace bench {

// Medians of 15 rounds in ms, about two seconds in all, with one compute thread:
//   gemm_ms        a product of two 512 x 512 float32 matrices
//   memcpy_ms      a copy of 64 MiB
//   decode_ms      one 512 x 512 JPEG at quality 90 into 64 x 64 pixels
//   all_reduce_ms  4 MiB of float32 between two threads over Gloo and the loopback interface
// Throws std::runtime_error if one of them can't run.
nlohmann::json run_canaries();

}  // namespace bench
