// 16-bit convolutions and matrix products in float32, for processors without instructions for them:
// LibTorch's kernels take 15 to 25 times as long as in float32 there.
#pragma once
#include <memory>

namespace bench {

// While the result exists, convolutions and matrix products of bfloat16 tensors on the CPU, forward and
// backward, are computed in float32 and rounded to bfloat16. This is what the instructions do, which add up
// in float32; types, bytes and all other operators stay as they are. Holds for all threads; none may compute
// while it is made or ends.
std::shared_ptr<void> compute_in_float32();

// Whether this process computes so: if the processor has no 16-bit instructions, or LibTorch may not use them
// (ONEDNN_MAX_CPU_ISA). Decided by the first call, which must come before any training.
bool computes_in_float32();

}  // namespace bench
