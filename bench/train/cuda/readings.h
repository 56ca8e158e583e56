// What the driver tells of the GPUs that CUDA numbers.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/train/gpu/device_sampler.h"

namespace bench {

// Null, and a line on stderr, where the driver's library can't be asked. `gpus` are CUDA's numbers.
std::unique_ptr<DeviceSampler> make_gpu_sampler(const std::vector<int>& gpus, double period_ms);

// Nvml::clocks(), empty where the driver's library can't be asked.
nlohmann::json gpu_clocks(int gpu);

}  // namespace bench
