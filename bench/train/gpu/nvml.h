// NVIDIA's management library, NVML: clocks, load, power and temperature of a GPU, as nvidia-smi shows them.
// It comes with the driver and is loaded at run time: a program linked with it would not start on a machine
// without a driver. No CUDA here.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/train/gpu/gpu_readings.h"

namespace bench {

class Nvml {
 public:
  struct Gpu;  // the library's own, valid as long as this object
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  // Throws std::runtime_error where there is no such library, or no GPU that it can talk to.
  explicit Nvml(const std::string& library = kLibrary);
  ~Nvml();
  // By PCI bus id, e.g. 0000:01:00.0: the numbers of CUDA_VISIBLE_DEVICES aren't the driver's. Throws
  // std::runtime_error when the driver knows no such GPU.
  Gpu* find(const std::string& pci_bus_id) const;

  GpuReading read(Gpu* gpu) const;
  std::optional<double> energy_j(Gpu* gpu) const;  // since the driver was loaded
  // {"sm_clock_mhz": now, "max_sm_clock_mhz": ..., "memory_clock_mhz": ..., "max_memory_clock_mhz": ...};
  // what isn't told is absent.
  nlohmann::json clocks(Gpu* gpu) const;

 private:
  struct Functions;
  std::unique_ptr<void, int (*)(void*)> library_;
  std::unique_ptr<const Functions> functions_;
};

}  // namespace bench
