// Reports kernels that could not be launched, in files without LibTorch.
#pragma once
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace bench {

// Call after a launch. Throws std::runtime_error with the kernel's name and CUDA's reason; faults while a
// kernel runs are reported later, by whatever synchronises with it.
inline void check_launch(const std::string& kernel) {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
    throw std::runtime_error(kernel + ": the kernel can't be launched: " + cudaGetErrorString(error));
}

}  // namespace bench
