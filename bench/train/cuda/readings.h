// Driver (NVML) readings of GPUs by CUDA device number.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/train/gpu/device_sampler.h"

namespace bench {

// gpus: CUDA device numbers. Returns null and prints a line on stderr if NVML isn't available.
std::unique_ptr<DeviceSampler> make_gpu_sampler(const std::vector<int>& gpus, double period_ms);

// Binds this thread, and those that it starts, to cores beside the GPUs of a rank: as cores_beside_gpus().
// Rank r has the GPUs r, r + 1, ... modulo their number. Returns its notes.
std::vector<std::string> bind_beside_gpus(int64_t rank, int64_t ranks, int64_t replicas,
                                          std::optional<int64_t> cores);

}  // namespace bench
