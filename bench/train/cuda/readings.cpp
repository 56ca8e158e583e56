#include "bench/train/cuda/readings.h"

#include <cuda_runtime_api.h>

#include <array>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>

#include "bench/train/gpu/sampler.h"

namespace bench {

static std::string pci_bus_id(int gpu) {
  std::array<char, 32> id{};
  if (const cudaError_t error = cudaDeviceGetPCIBusId(id.data(), int(id.size()), gpu); error != cudaSuccess)
    throw std::runtime_error(cudaGetErrorString(error));
  return id.data();
}

std::unique_ptr<DeviceSampler> make_gpu_sampler(const std::vector<int>& gpus, double period_ms) try {
  std::set<std::string> ids;  // replicas may share a GPU
  for (const int gpu : gpus) ids.insert(pci_bus_id(gpu));
  return std::make_unique<CudaSampler>(std::vector(ids.begin(), ids.end()), period_ms);
} catch (const std::runtime_error& error) {
  std::cerr << "gpu_sampling_ms: no GPU readings: " << error.what() << '\n';
  return nullptr;
}

nlohmann::json gpu_clocks(int gpu) try {
  const Nvml nvml;
  return nvml.clocks(nvml.find(pci_bus_id(gpu)));
} catch (const std::runtime_error&) {
  return nlohmann::json::object();
}

}  // namespace bench
