// Driver (NVML) readings of GPUs by CUDA device number. Each GPU is found in NVML by its PCI bus id, because
// NVML may number GPUs differently from CUDA.
#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/train/gpu/gpu_cores.h"
#include "bench/train/gpu/sampler.h"
#include "harness/base/process_limits.h"

namespace bench {

inline std::string pci_bus_id(int gpu) {
  std::array<char, 32> id{};
  if (const cudaError_t error = cudaDeviceGetPCIBusId(id.data(), int(id.size()), gpu); error != cudaSuccess)
    throw std::runtime_error(cudaGetErrorString(error));
  return id.data();
}

// gpus: CUDA device numbers. Returns null and prints a line on stderr if NVML isn't available.
inline std::unique_ptr<DeviceSampler> make_gpu_sampler(const std::vector<int>& gpus, double period_ms) try {
  std::set<std::string> ids;  // replicas may share a GPU
  for (const int gpu : gpus) ids.insert(pci_bus_id(gpu));
  return std::make_unique<CudaSampler>(std::vector(ids.begin(), ids.end()), period_ms);
} catch (const std::runtime_error& error) {
  std::cerr << "gpu_sampling_ms: no GPU readings: " << error.what() << '\n';
  return nullptr;
}

// Binds this thread, and those that it starts, to cores beside the GPUs of a rank: as cores_beside_gpus().
// Rank r has the GPUs r, r + 1, ... modulo their number. Returns its notes.
inline std::vector<std::string> bind_beside_gpus(int64_t rank, int64_t ranks, int64_t replicas,
                                                 std::optional<int64_t> cores) {
  int count = 0;
  cudaGetDeviceCount(&count);
  std::vector<std::vector<std::string>> gpus(static_cast<size_t>(ranks));
  for (int64_t other = 0; other < ranks; ++other)
    for (int64_t replica = 0; replica < replicas; ++replica)
      gpus[size_t(other)].push_back(pci_bus_id(int((other + replica) % std::max(1, count))));
  const RankCores found = cores_beside_gpus(gpus, size_t(rank), base::available_cpus(), cores);
  bind_to(found.cpus);
  return found.notes;
}

}  // namespace bench
