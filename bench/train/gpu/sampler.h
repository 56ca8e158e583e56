// The device sampler for NVIDIA GPUs: a thread that reads NVML at fixed intervals. No CUDA here.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/train/gpu/device_sampler.h"
#include "bench/train/gpu/nvml.h"

namespace bench {

class CudaSampler : public DeviceSampler {
 public:
  // Throws std::runtime_error if NVML or one of the GPUs isn't available.
  CudaSampler(const std::vector<std::string>& pci_bus_ids, double period_ms,
              const std::string& library = Nvml::kLibrary);
  void start() override;
  GpuReadings stop() override;

 private:
  void sample(const std::stop_token& stop);
  std::optional<double> energy_j() const;  // sum of all GPUs; empty if one doesn't provide it

  const Nvml nvml_;
  const std::vector<std::string> pci_bus_ids_;
  std::vector<Nvml::Gpu*> gpus_;
  const std::chrono::nanoseconds period_;
  GpuReadings readings_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last member: destroyed first
};

}  // namespace bench
