// The device sampler of NVIDIA GPUs: a thread that asks the driver in fixed intervals. No CUDA here.
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
  // Throws std::runtime_error when there is no NVML, or no such GPU.
  CudaSampler(const std::vector<std::string>& pci_bus_ids, double period_ms,
              const std::string& library = Nvml::kLibrary);
  void start() override;
  GpuReadings stop() override;

 private:
  void sample(const std::stop_token& stop);
  std::optional<double> energy_j() const;  // of all GPUs; empty when one doesn't tell

  const Nvml nvml_;
  std::vector<Nvml::Gpu*> gpus_;
  const std::chrono::nanoseconds period_;
  GpuReadings readings_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it ends first
};

}  // namespace bench
