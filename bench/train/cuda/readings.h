// Driver (NVML) readings of GPUs by CUDA device number.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/train/gpu/device_sampler.h"

namespace bench {

// gpus: CUDA device numbers. Returns null and prints a line on stderr if NVML isn't available.
std::unique_ptr<DeviceSampler> make_gpu_sampler(const std::vector<int>& gpus, double period_ms);

// Nvml::clocks() of a CUDA device; an empty object if NVML isn't available.
nlohmann::json gpu_clocks(int gpu);

}  // namespace bench
